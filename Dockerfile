# The demo in a container: docker build -t sketchmark . && docker run --rm sketchmark
# Your own run, whose folder is yours (Docker would make a folder that is not there root's):
#   mkdir -p runs
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/runs:/work/runs" sketchmark run --model player/random --tasks maze
FROM python:3.11-slim
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir /src && useradd user && install -d -m 1777 /work
USER user
WORKDIR /work
ENV HOME=/work
ENTRYPOINT ["sketchmark"]
CMD ["demo"]
