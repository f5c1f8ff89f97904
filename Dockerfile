# The server in an image: dependencies in one stage, only what runs in the other.
# The Node of package.json, exactly: server/transport/grpc/internals.ts reaches into it.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/ts/package.json clients/ts/build.mjs clients/ts/
RUN npm ci --omit=dev --no-audit --no-fund
RUN mkdir data

FROM node:24.21.0-bookworm-slim
# Runs the programs that models write (docs/guides/code.md): the interpreter and its standard library, and no packages.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY clients/ts clients/ts
COPY envs envs
COPY pictures pictures
COPY server server
COPY cli cli
COPY --from=dependencies --chown=1000:1000 /app/data data
ENV NODE_ENV=production
ENV GRADUS_HOST=0.0.0.0
ENV GRADUS_DATA_DIR=data
# The user `node` of the base image.
USER 1000:1000
EXPOSE 50051 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "cli/health.ts"]
# Off the loopback interface the server wants a token or mutual TLS: give GRADUS_TOKEN or GRADUS_TOKEN_FILE.
# With the flags of the command; the shell gives its place to Node.
ENTRYPOINT ["sh", "-c", "exec node $(tr -d '[]\",' < cli/node-flags.json) cli/main.ts \"$@\"", "gradus"]
CMD ["serve"]
