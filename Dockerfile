# The appliance in one image: browser, displays and server, run by one ordinary user. Only the keeper stays root, with no
# more rights than it takes to start the agent's scripts as users of their own.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS system
# Bases made by hand lack the security suite, and with it the current Chromium: it is added beside the base's own.
RUN grep -rqs -e -security /etc/apt/sources.list /etc/apt/sources.list.d \
    || sed -n 's|^deb \(\S*\)/debian/\? \(\S*\) main.*|deb \1/debian-security \2-security main|p' /etc/apt/sources.list \
        >/etc/apt/sources.list.d/security.list \
    && apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        ca-certificates chromium libatomic1 python3 tini x11vnc xvfb \
        fonts-liberation fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core \
    && rm -rf /var/lib/apt/lists/*

FROM system AS build
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/pilothouse
# For networks with a certificate authority of their own; empty otherwise.
ARG PIP_CERT
ARG NODE_EXTRA_CA_CERTS
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements.lock ./
RUN python3 -m venv .venv && .venv/bin/pip install -q --require-hashes -r requirements.lock
COPY ops/assets ops/package.json ops/package-lock.json ops/
RUN ops/assets
COPY . ./
RUN .venv/bin/pip install -q --no-deps -e . && .venv/bin/python -m compileall -q appliance web

FROM system
# Displays make their sockets in a folder that only root can make as it should be.
RUN useradd --uid 1000 --user-group --create-home pilothouse \
    && chmod 0711 /home/pilothouse \
    && install -d -o pilothouse -g pilothouse -m 0700 /data \
    && install -d -m 1777 /tmp/.X11-unix
COPY --from=build /opt/pilothouse /opt/pilothouse
ENV PATH=/opt/pilothouse/ops/image:/opt/pilothouse/.venv/bin:$PATH \
    PILOTHOUSE_SANDBOX_KEEPER=/run/pilothouse-keeper/socket \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    HOST=0.0.0.0 \
    PORT=8420
WORKDIR /home/pilothouse
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/opt/pilothouse/ops/healthy"]
# tini reaps what browsers leave behind and passes signals on; no --init is needed.
ENTRYPOINT ["tini", "--"]
CMD ["keep", "pilothouse", "supervise"]
