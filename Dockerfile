# The demo in a container: docker build -t sketchmark . && docker run --rm sketchmark
# Your own run: docker run --rm -v "$PWD/runs:/work/runs" sketchmark run --model player/random --tasks maze --limit 5
FROM python:3.11-slim
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir /src && useradd --create-home user && install -d -o user /work
USER user
WORKDIR /work
ENTRYPOINT ["sketchmark"]
CMD ["demo"]
