# The same few verbs everywhere: demo, test (test-quick), check. Each sets up what it needs; nothing else is to be installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COV ?= --cov --cov-report=

.PHONY: demo test test-quick check test-local fuzz lmms-eval-tasks soak audit browser clean

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.base

demo: $(VENV)/.base
	$(BIN)/sketchmark demo

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

browser:
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq chromium >/dev/null)

test: $(VENV)/.dev browser check  # make test COV= runs without measuring coverage, which costs a quarter or more
	$(BIN)/pytest -n 2 --dist loadscope -m "not local" $(COV)
	@test -z "$(COV)" || $(BIN)/coverage report | awk 'NR < 3 || /^TOTAL/ || $$NF + 0 < 80'  # the whole, and the files below 80 %

test-quick: $(VENV)/.dev browser
	$(BIN)/pytest -n 2 --dist loadscope -m "not slow and not local"

.venv-local/.ready: pyproject.toml
	test -x .venv-local/bin/python || $(PYTHON) -m venv .venv-local
	.venv-local/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-local/bin/pip install --quiet --disable-pip-version-check -e '.[local,localdev]'
	touch $@

test-local: .venv-local/.ready
	.venv-local/bin/pytest -m local tests/local

.venv-fuzz/.ready: pyproject.toml
	test -x .venv-fuzz/bin/python || $(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/pip install --quiet --disable-pip-version-check -e '.[data,openai]' atheris
	touch $@

fuzz: .venv-fuzz/.ready  # make fuzz SECONDS=300 tries each target for five minutes
	.venv-fuzz/bin/python -m fuzz $(or $(SECONDS),30)

.venv-lmms/.ready: pyproject.toml  # torchvision's wheels want a torch for CUDA, and no task does
	test -x .venv-lmms/bin/python || $(PYTHON) -m venv .venv-lmms
	.venv-lmms/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-lmms/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 lmms-eval==0.7.3 -e '.[data,templates,video,localdev]'
	.venv-lmms/bin/pip uninstall --quiet --yes torchvision
	touch $@

lmms-eval-tasks: .venv-lmms/.ready  # how many of lmms-eval's own folders play: docs/lmms-eval-tasks.md
	.venv-lmms/bin/pytest tests/lmms_eval/test_provided.py -W default
	.venv-lmms/bin/python -m bench.lmms_eval_tasks

soak: $(VENV)/.dev  # make soak EPISODES=2000 is a shorter one
	$(BIN)/python -m bench.soak $(or $(EPISODES),20000)

.venv-audit/.ready:
	test -x .venv-audit/bin/python || $(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet --disable-pip-version-check pip-audit
	touch $@

audit: .venv-audit/.ready $(VENV)/.dev  # known vulnerabilities of all that the tests install; needs the advisories of pypi.org
	.venv-audit/bin/pip-audit --progress-spinner off --path $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')

clean:
	rm -rf .venv .venv-local .venv-fuzz .venv-lmms .venv-audit runs artefacts dist build film_strip.png
	rm -rf .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
