/**
 * The image's health check: it exits with 0 if the server that this environment configures answers /livez with 200. An
 * outage of the store leaves a container healthy, since no restart mends that. With mutual TLS, for which this check has no
 * certificate, it is enough that the port takes a connection.
 */
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import { connect } from "node:net";
import { say } from "../server/runtime/terminal.ts";

const TIMEOUT_MS = 2000;
// As the server takes them: a variable without a value is none.
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
