import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { abortedAfter, messageOf } from "@isthmus/core";
import { failUnanswered } from "@isthmus/dataplane";
import { type HttpAnswer, type HttpClient, HttpError } from "@isthmus/plane";

/** Sends requests with Node's own client: no redirects, no proxy, one connection each. */
export const httpClient: HttpClient = ({ method, url, headers, body, roots, serverName, mostBytes, timeoutMs }, signal) => {
  const until = abortedAfter(timeoutMs, signal);
  return new Promise<HttpAnswer>((resolve, reject) => {
    const fail = (error: unknown) => {
      if (signal.aborted) return reject(signal.reason);
      if (error instanceof HttpError) return reject(error);
      if (until.aborted) return reject(new HttpError("TimedOut", `no answer within ${timeoutMs / 1000} s`, { cause: error }));
      reject(new HttpError(isOfCertificate(error) ? "Untrusted" : "Unreachable", messageOf(error), { cause: error }));
    };
    if (!URL.canParse(url)) return fail(new Error("the URL has no host that can be called"));
    const target = new URL(url);
    const send = target.protocol === "https:" ? secureRequest : plainRequest;
    const trust = { ...(roots === undefined ? {} : { ca: roots }), ...(serverName === undefined ? {} : { servername: serverName }) };
    const sent = send(target, { method, headers, agent: false, signal: until, ...trust }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) return void sent.destroy(new HttpError("TooLarge", `the answer is longer than ${mostBytes} bytes`));
        chunks.push(chunk);
      });
      answer.on("error", fail);
      const { location } = answer.headers;
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          ...(location === undefined ? {} : { location }),
        }),
      );
    });
    failUnanswered(sent, fail);
    sent.end(body);
  });
};

function isOfCertificate(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return CERTIFICATE_CODES.test(code);
}

// Source: Node.js, "X509 certificate error codes" and ERR_TLS_CERT_ALTNAME_INVALID.
const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|INVALID_CA|INVALID_PURPOSE/;
