"""MMMU's 30 subjects in their six domains (docs/benchmarks/mmmu.md, "Subjects")."""

from __future__ import annotations

DOMAINS: dict[str, tuple[str, ...]] = {
    "Art and Design": ("Art", "Art_Theory", "Design", "Music"),
    "Business": ("Accounting", "Economics", "Finance", "Manage", "Marketing"),
    "Science": ("Biology", "Chemistry", "Geography", "Math", "Physics"),
    "Health and Medicine": (
        "Basic_Medical_Science",
        "Clinical_Medicine",
        "Diagnostics_and_Laboratory_Medicine",
        "Pharmacy",
        "Public_Health",
    ),
    "Humanities and Social Science": ("History", "Literature", "Sociology", "Psychology"),
    "Tech and Engineering": (
        "Agriculture",
        "Architecture_and_Engineering",
        "Computer_Science",
        "Electronics",
        "Energy_and_Power",
        "Materials",
        "Mechanical_Engineering",
    ),
}

MEDICAL = DOMAINS["Health and Medicine"]
SUBJECTS = tuple(subject for subjects in DOMAINS.values() for subject in subjects)


def subject_of(item_id: str) -> str:
    """`validation_Basic_Medical_Science_10` -> `Basic_Medical_Science`; empty when the id is of another form."""
    name = item_id.partition("_")[2].rpartition("_")[0]
    return name if name in SUBJECTS else ""
