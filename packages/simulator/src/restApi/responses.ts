import type { IncomingMessage, ServerResponse } from "node:http";
import { stringify as yamlText } from "yaml";
import type { Members } from "../apply/json.ts";
import type { ApiError } from "./apiError.ts";

/** An answer: a document, or a text. */
export interface Answer {
  readonly code: number;
  readonly body?: Members;
  readonly text?: string;
  readonly contentType?: string;
}

/** Sends an answer, with warnings for those who read them. */
export function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { code, body, text, contentType }: Answer,
  warnings: readonly string[],
): void {
  const isPretty =
    (request.headers.accept ?? "").includes("text/html") ||
    /curl|Wget|Mozilla/.test(request.headers["user-agent"] ?? "") ||
    /[?&]pretty(=(true|1))?(&|$)/.test(request.url ?? "");
  const isYaml = text === undefined && (request.headers.accept ?? "").startsWith("application/yaml");
  const content = isYaml
    ? yamlText(body, { sortMapEntries: true, indentSeq: false, customTags: ["timestamp"] })
    : (text ?? `${safeJson(body, isPretty)}${isPretty ? "" : "\n"}`);
  for (const warning of warnings.slice(0, MOST_WARNINGS)) response.appendHeader("warning", `299 - ${JSON.stringify(warning)}`);
  response.writeHead(code, {
    "content-type": contentType ?? (isYaml ? "application/yaml" : body === undefined ? "text/plain; charset=utf-8" : "application/json"),
    "cache-control": "no-cache, private",
    "content-length": Buffer.byteLength(content),
  });
  response.end(request.method === "HEAD" ? "" : content);
  // What is left of a body that nobody reads.
  request.resume();
}

const ESCAPES: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };

/** JSON as Go writes it, which also stands in HTML. */
export function safeJson(body: unknown, isPretty = false): string {
  return JSON.stringify(body, null, isPretty ? 2 : 0).replace(/[<>&]/g, (character) => ESCAPES[character] ?? character);
}

const MOST_WARNINGS = 100;

/** Sends a refusal, unless an answer has begun already. */
export function answerStatus(request: IncomingMessage, response: ServerResponse, error: ApiError, warnings: readonly string[]): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { retryAfterSeconds } = error.details ?? {};
  if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
  // A body that is too large is not read to its end.
  if (error.code === 413) response.setHeader("connection", "close");
  answer(request, response, { code: error.code, body: error.status() }, warnings);
}
