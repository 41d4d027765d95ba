/** Why a connection could not be made or was ended. The code decides how long to wait before the next try. */
export type RelayErrorCode =
  /** No answer, or the server is about to end. */
  | "Unreachable"
  /** The server's certificate is not from our root, not for the expected name, or expired. Nothing was sent to it. */
  | "UntrustedServer"
  /** The server does not accept our certificate: it was issued by another root, is expired or revoked. */
  | "CertificateRefused"
  /** Not the server's token. */
  | "WrongToken"
  /** Another cluster is registered under this name. */
  | "ClusterNameTaken"
  /** Nobody is registered under this name any more: what was applied for the server stays, and is no longer looked after. */
  | "Deregistered"
  /** The server refuses this agent for another reason, which the message says. */
  | "Refused"
  /** Too many failures: to be tried later. */
  | "Throttled"
  /** The other end broke the protocol. */
  | "Protocol"
  /** The other end ended the stream in good order. */
  | "Ended";

/** A connection that failed or ended; the message is for people and names the remedy where there is one. */
export class RelayError extends Error {
  override readonly name = "RelayError";
  readonly code: RelayErrorCode;

  constructor(code: RelayErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}
