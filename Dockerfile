# Debian 12 with everything built: the command, the libraries and headers in /usr/local, the Python
# package in /opt/stowage. `docker build -t stowage .` in the folder of the sources, some twenty
# minutes of CPU time; `docker run --rm -v "$PWD:/data" -w /data stowage solve step.json`.
# Untested as an image. tests/install/replay_dockerfile.py replays all its steps without Docker: they passed
# on 2026-11-30, and the entry point planned and verified a step.
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends bash ca-certificates git
WORKDIR /src
COPY . .
RUN ./dev demo && cmake --install build/release --prefix /usr/local
RUN ./dev wheel && python3 -m venv /opt/stowage && /opt/stowage/bin/pip install build/wheel/*.whl

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libglpk40 coinor-libcbc3 libopenmpi3 openmpi-bin \
    python3 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
COPY --from=build /opt/stowage /opt/stowage
ENTRYPOINT ["stowage"]
