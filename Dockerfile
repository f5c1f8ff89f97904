# The server's image: copies out/image, which `make image` makes and test/artefacts/artefacts.test.ts tests without
# a container engine; test/docs/dockerfile.test.ts tests these lines. The base has the C library and the Python that runs programs
# of models (docs/guides/code.md). Node comes from the npm package `node`.
FROM python:3.11-slim-bookworm
COPY out/image/opt /opt
COPY out/image/usr /usr
# Keys, runs and pools: mount a volume here. The server writes nowhere else. No earlier line may make the folder, because
# COPY does not change the owner of an existing folder.
COPY --chown=1000:1000 out/image/var/lib/gradus /var/lib/gradus
ENV NODE_ENV=production
ENV GRADUS_HOST=0.0.0.0
ENV GRADUS_DATA_DIR=/var/lib/gradus
# The base image has no user of this number, which owns only the data.
USER 1000:1000
EXPOSE 50051 8080
# Checks /livez and not /readyz, because a restart would not help against an outage of the store.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/opt/gradus/node_modules/node/bin/node", "/opt/gradus/node_modules/gradus/dist/health.js"]
# The address is not loopback, so the server requires a token or mutual TLS: give GRADUS_TOKEN or GRADUS_TOKEN_FILE.
ENTRYPOINT ["/usr/local/bin/gradus"]
CMD ["serve"]
