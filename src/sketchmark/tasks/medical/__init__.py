"""The eleven medical data sets of MedEvalKit (https://github.com/alibaba-damo-academy/MedEvalKit)."""
