import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { KeyedCertificate } from "@isthmus/certificates";

/** A Service's pod with OpenAPI documents, good and bad. */
export interface ApiDocuments {
  readonly port: number;
  /** What was asked for, as method and path. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** Serves them on an address of this machine; with `identity` by https. */
export async function serveApiDocuments(address: string, identity?: KeyedCertificate): Promise<ApiDocuments> {
  const asked: string[] = [];
  const served = {
    asked,
    get port() {
      return (server.address() as AddressInfo).port;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    "/openapi.json": (response) => response.end(JSON.stringify({ openapi: "3.0.0", info: { title: "Reviews", version: "1" }, paths: {} })),
    "/openapi.yaml": (response) => response.end("swagger: '2.0'\ninfo: {title: Ratings}\npaths: {}\n"),
    "/broken": (response) => response.end('{"openapi": "3.0.0", '),
    "/secret": (response) => response.end('{"password": "hunter2"}'),
    "/huge": (response) => response.end(JSON.stringify({ openapi: "3.0.0", info: {}, paths: { "/": "x".repeat(2 * 1024 * 1024) } })),
    "/loop": (response) => response.writeHead(302, { location: "/loop" }).end(),
    "/away": (response) => response.writeHead(302, { location: "http://169.254.169.254/openapi.json" }).end(),
    "/missing": (response) => response.writeHead(404).end(),
  };
  const answerAll = ({ method, url = "" }: IncomingMessage, response: ServerResponse) => {
    asked.push(`${method} ${url}`);
    const answer = Object.hasOwn(answers, url) ? answers[url] : undefined;
    // Anything else has no end.
    if (answer === undefined) response.write("{");
    else answer(response);
  };
  const server: Server | SecureServer =
    identity === undefined ? createServer(answerAll) : createSecureServer({ cert: identity.certificate, key: identity.key }, answerAll);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return served;
}
