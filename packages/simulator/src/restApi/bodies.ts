import type { IncomingMessage } from "node:http";
import { excessOf } from "@isthmus/core";
import { parse as parseYaml } from "yaml";
import { ApiError, badRequest } from "./apiError.ts";
import { unsupportedMediaType } from "./options.ts";
import { objectFromProtobuf } from "./types/protobuf.ts";

/** As an API server's default: 3 MiB. */
const MOST_BYTES = 3 * 1024 * 1024;

/** Reads a body to its end, up to a limit. Rejects with ApiError `RequestEntityTooLarge`. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw new ApiError(413, "RequestEntityTooLarge", `Request entity is too large: limit is ${MOST_BYTES}`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The media type of a request, without its parameters. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The object of a body in one of the forms that clients send; `kind`: what it should be. Throws ApiError. */
export function objectIn(bytes: Buffer, type: string, kind: string): unknown {
  switch (type) {
    case "":
    case "application/json":
      return jsonIn(bytes, (problem) => unrecognized(kind, `couldn't get version/kind; json parse error: ${problem}`, bytes));
    case "application/yaml":
      return yamlIn(bytes);
    case "application/vnd.kubernetes.protobuf": {
      const object = objectFromProtobuf(bytes);
      if (object === undefined)
        throw unrecognized(kind, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]", bytes);
      return object.value;
    }
    default:
      throw unsupportedMediaType(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]);
  }
}

/** What came is no object of the kind. Source: apiserver, pkg/endpoints/handlers/rest.go. */
export function unrecognized(kind: string, problem: string, bytes: Buffer): ApiError {
  const most = 30;
  const text = bytes.toString("utf8");
  const summary =
    bytes.length === 0
      ? "<empty>"
      : text.startsWith("{")
        ? text.length > most
          ? `${text.slice(0, most)} ...`
          : text
        : bytes.length > most
          ? `${bytes.subarray(0, most).toString("hex")} ...`
          : bytes.toString("hex");
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${problem} (${summary})`);
}

/** JSON that is neither too large nor too deep. Throws what `refusal` makes of a syntax error, in Go's words, and ApiError `BadRequest`. */
export function jsonIn(bytes: Buffer, refusal: (problem: string) => ApiError): unknown {
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal(goSyntaxError(text, error));
  }
  requireBounds(value);
  return value;
}

/** YAML, or JSON, of one document. Throws ApiError `BadRequest`. */
export function yamlIn(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = text.trimStart().startsWith("{") ? JSON.parse(text) : parseYaml(text, { maxAliasCount: 100 });
  } catch {
    throw badRequest("error decoding YAML: error converting YAML to JSON: yaml: the document cannot be read");
  }
  requireBounds(value);
  return value;
}

/** Refuses a value that is too large or too deep. Throws ApiError `BadRequest`. */
export function requireBounds(value: unknown): void {
  const excess = excessOf(value, MOST_BYTES);
  if (excess !== undefined) throw badRequest(`the body of the request is out of bounds: ${excess}`);
}

function goSyntaxError(text: string, error: unknown): string {
  if (text.trim() === "") return "unexpected end of JSON input";
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  const character = position === undefined ? undefined : text[Number(position)];
  return character === undefined ? "unexpected end of JSON input" : `invalid character '${character}' looking for beginning of value`;
}
