# Two commands: `make course` builds everything, `make test` proves it. Each sets itself up.
.DEFAULT_GOAL := course
PYTHON := .venv/bin/python
export OMP_NUM_THREADS := 1
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: course train fashion book serve release verify grade-demo screenshots lint test colab bench clean

.venv/ready: requirements.txt pyproject.toml .ci/setup
	@bash .ci/setup

course: .venv/ready release book grade-demo ## Release the notebooks, build the book, grade a sample class
	@echo
	@echo "The book:          _build/html/index.html"
	@echo "The notebooks:     exercises/*.ipynb"
	@echo "The feedback:      _build/course/feedback/"
	@echo "The class report:  _build/course/class_report.html"
	@echo "make serve shows them at localhost:8000."

release: .venv/ready ## Make exercises/*.ipynb from exercises/*.md and solutions/
	$(PYTHON) -m autograder release

train: .venv/ready ## Run the experiments that pages ask for, two at a time; what is kept is not run again
	$(PYTHON) -m solutions.experiments

fashion: .venv/ready ## Train on Fashion-MNIST anew (needs its images and an hour or more), write the outcomes down
	$(PYTHON) -m solutions.experiments fashion sight
	$(PYTHON) -m solutions.studies.fashion_record
	$(PYTHON) -m solutions.studies.sight_record

book: .venv/ready train ## Build the book; only pages whose code or data changed run again
	$(PYTHON) book/machinery/build.py

serve: .venv/ready ## Show the book, the class report and the feedback pages at localhost:8000
	@echo "http://localhost:8000/html/index.html  http://localhost:8000/course/class_report.html"
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory _build 8000

grade-demo: .venv/ready ## Grade the embedded sample class in two lessons (python -m autograder demo: in all)
	$(PYTHON) -m autograder demo _build/course warm_up multi_head

verify: .venv/ready ## Prove that the checks accept right answers and name wrong ones
	$(PYTHON) -m autograder verify

screenshots: .venv/ready ## Take the pictures of the README anew
	$(PYTHON) tools/readme_pictures.py

lint: .venv/ready
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

test: .venv/ready lint train ## Everything that must hold before a change lands
	$(PYTHON) book/machinery/build.py --strict
	$(PYTHON) -m autograder verify --seeds 2
	$(PYTHON) -m pytest -n 2 --dist loadfile --durations 15

colab: export COLAB_PYTHON ?= python3.13
colab: export COLAB_LESSONS := all
colab: .venv/ready ## Run every answered notebook at Colab's versions (its torch and CUDA are 5 GB, fetched once)
	$(PYTHON) -m pytest tests/release/test_colab.py tests/release/test_setup_cell.py

bench: .venv/ready ## Measure, side by side, and write _build/bench.json
	$(PYTHON) -m tests.bench

clean: ## Remove what was built; the virtual environment stays
	rm -rf _build book/assets/vendor
