import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { messageOf } from "@isthmus/core";
import type { StreamEnd } from "../session/connection.ts";
import { RelayError, type RelayErrorCode } from "../session/relayError.ts";

// Reasons travel as a gRPC status; our own code, which is finer, goes along in the trailers.

const CODE_KEY = "relay-code";

const STATUS_OF: Readonly<Record<RelayErrorCode, status>> = {
  Unreachable: status.UNAVAILABLE,
  UntrustedServer: status.UNAVAILABLE,
  CertificateRefused: status.UNAUTHENTICATED,
  WrongToken: status.UNAUTHENTICATED,
  ClusterNameTaken: status.ALREADY_EXISTS,
  Deregistered: status.PERMISSION_DENIED,
  Refused: status.PERMISSION_DENIED,
  Throttled: status.RESOURCE_EXHAUSTED,
  Protocol: status.FAILED_PRECONDITION,
  Ended: status.UNAVAILABLE,
};

/** A status as the library takes it from a server. */
export interface GrpcStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** How a server says why. */
export function statusOf({ code, reason }: StreamEnd): GrpcStatus {
  const metadata = new Metadata();
  metadata.set(CODE_KEY, code);
  return { code: STATUS_OF[code], details: reason, metadata };
}

/** The status for anything thrown: what is our fault is not shown to the other end. */
export function statusOfError(error: unknown): GrpcStatus {
  if (error instanceof RelayError) return statusOf({ code: error.code, reason: error.message });
  return statusOf({ code: "Unreachable", reason: "internal error of the management server: see its log for details" });
}

/** What a status means to the agent. `server` names the server for people. */
export function endOf({ code, details, metadata }: StatusObject | ServiceError, server: string): StreamEnd {
  const [told] = metadata.get(CODE_KEY);
  if (typeof told === "string" && told in STATUS_OF) return { code: told as RelayErrorCode, reason: details };
  const untrusted = untrustedServer(details, server);
  if (untrusted !== undefined) return { code: untrusted.code, reason: untrusted.message };
  if (code === status.OK) return { code: "Ended", reason: "the management server ended the connection" };
  if (code === status.UNAUTHENTICATED) return { code: "CertificateRefused", reason: details };
  return { code: "Unreachable", reason: `cannot reach ${server}: ${lastError(details)}${closedHandshake(details) ? GATEWAY_HINT : ""}` };
}

const GATEWAY_HINT =
  "; the connection was closed before the server answered: if a gateway is in between, it passes on only the names that it knows: check --relay-authority";

/** Whether somebody accepted a new connection, and closed it before TLS was established. Source: texts of Node's sockets. */
function closedHandshake(details: string): boolean {
  const closed = ["ECONNRESET", "socket disconnected before secure TLS connection", "socket hang up"];
  return details.startsWith("No connection established") && closed.some((text) => details.includes(text));
}

/** The same as an error. */
export function relayErrorOf(error: unknown, server: string): RelayError {
  if (!isServiceError(error)) return new RelayError("Unreachable", `cannot reach ${server}: ${messageOf(error)}`, error);
  const { code, reason } = endOf(error, server);
  return new RelayError(code, reason, error);
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "details" in error && "metadata" in error && "code" in error;
}

/** What a failed handshake says of the server's certificate; undefined when it failed for another reason. */
export function untrustedServer(details: string, server: string): RelayError | undefined {
  const problem = trustProblem(details);
  return problem === undefined ? undefined : new RelayError("UntrustedServer", `refused to connect to ${server}: ${problem}`);
}

/** The TLS library's findings in words that name the remedy. Source: OpenSSL's verification errors (X509_V_ERR_…). */
function trustProblem(details: string): string | undefined {
  const wrongName = NAME_PROBLEM.exec(details);
  if (wrongName !== null)
    return `its certificate is for ${wrongName[2]}, not for ${wrongName[1]}: set --relay-authority to a name in the certificate`;
  if (/certificate has expired/.test(details))
    return "its certificate has expired: renew relay-server-tls-secret in the management cluster";
  if (/certificate is not yet valid/.test(details)) return "its certificate is not valid yet: check the clocks of both machines";
  if (/unsuitable certificate purpose|unsupported certificate purpose|is not one for servers/.test(details))
    return "its certificate is not a server certificate";
  if (
    /self.signed certificate|unable to verify the first certificate|unable to get (local )?issuer certificate|certificate signature failure/.test(
      details,
    )
  ) {
    return "its certificate is not signed by the root that this agent trusts: copy the Secret relay-root-tls-secret (ca.crt) from the management cluster";
  }
  return undefined;
}

const NAME_PROBLEM = /server certificate is not for (\S+), but for ([^:]*);/;

/** What `trustProblem` recognises as a certificate that no server may have. */
export function notForServers(authority: string): Error {
  return new Error(`server certificate is not one for servers: ${authority} vouches for agents alone`);
}

/** What `trustProblem` recognises as a wrong name. */
export function wrongName(expected: string, names: readonly string[]): Error {
  return new Error(`server certificate is not for ${expected}, but for ${names.join(", ") || "no name"};`);
}

/** The cause in "No connection established. Last error: …", without the library's words around it. */
function lastError(details: string): string {
  return /Last error: (?:Error: )?([^\n]*?)(?:\. Resolution note:.*)?$/.exec(details)?.[1] ?? details;
}
