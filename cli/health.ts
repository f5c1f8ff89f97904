/**
 * Health check of the container image. Exits with 0 if the server that the environment variables configure answers
 * /livez with 200. A container stays healthy when the store is down, because a restart would not help. If the server
 * demands client certificates (mutual TLS), the check has none, so being able to connect suffices.
 */
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import { connect } from "node:net";
import { say } from "../server/runtime/terminal.ts";

const TIMEOUT_MS = 2000;
// Treat an empty variable as unset, as the server does.
const port = Number(process.env["GRADUS_HTTP_PORT"] || 8080);
const listensOn = process.env["GRADUS_HOST"] || "localhost";
const host = ["0.0.0.0", "::"].includes(listensOn) ? "localhost" : listensOn;
const secure = Boolean(process.env["GRADUS_TLS_CERT"]);
const mutual = Boolean(process.env["GRADUS_TLS_CLIENT_CA"]);

const finish = (problem?: string): void => {
  if (problem !== undefined) say(`not healthy: ${problem}`);
  process.exit(problem === undefined ? 0 : 1);
};

function overHttp(): void {
  const options = { host, port, path: "/livez", rejectUnauthorized: false, timeout: TIMEOUT_MS };
  const request = (secure ? getSecure : getPlain)(options, ({ statusCode }) =>
    finish(statusCode === 200 ? undefined : `/livez answered ${statusCode}`),
  );
  request.on("timeout", () => finish(`no answer in ${TIMEOUT_MS} ms`));
  request.on("error", (error) => finish(error.message));
}

if (mutual) {
  const socket = connect({ host, port, timeout: TIMEOUT_MS }, () => finish());
  socket.on("timeout", () => finish(`no connection in ${TIMEOUT_MS} ms`));
  socket.on("error", (error) => finish(error.message));
} else overHttp();
