# The server in an image: copies what `make image` lays in out/image, which is tested without an engine
# (test/artefacts/artefacts.test.ts). test/docs/dockerfile.test.ts tests what these lines lay down. The base brings the C
# library, and the Python that runs the programs that models write (docs/guides/code.md). The one Node is the package's.
FROM python:3.11-slim-bookworm
COPY out/image/opt /opt
COPY out/image/usr /usr
# Keys, runs and pools: mount a volume here. The server writes nowhere else. No line before this one may make the folder:
# COPY leaves the owner of a folder that is there as it is.
COPY --chown=1000:1000 out/image/var/lib/gradus /var/lib/gradus
ENV NODE_ENV=production
ENV GRADUS_HOST=0.0.0.0
ENV GRADUS_DATA_DIR=/var/lib/gradus
# Nobody of the base image has this number, and it owns nothing but the data.
USER 1000:1000
EXPOSE 50051 8080
# It asks whether the server answers (/livez), and not whether it is ready: an outage of the store is mended by no restart.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/opt/gradus/node_modules/node/bin/node", "/opt/gradus/node_modules/gradus/dist/health.js"]
# Off the loopback interface the server wants a token or mutual TLS: give GRADUS_TOKEN or GRADUS_TOKEN_FILE.
ENTRYPOINT ["/usr/local/bin/gradus"]
CMD ["serve"]
