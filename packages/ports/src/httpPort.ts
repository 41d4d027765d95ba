/** One request to a server that is no API server. Redirects are not followed: they would carry a token elsewhere. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM: the server's certificate must be below one of these. Default: those of the system. */
  readonly roots?: string;
  /** The name that the server's certificate must be valid for, where the URL has an address. Default: the host of the URL. */
  readonly serverName?: string;
  /** A longer answer is refused. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
}

/** What a server answered, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  /** The header of this name, where a redirect leads to. */
  readonly location?: string;
}

/** Why there is no answer. `Untrusted`: the server's certificate does not verify. */
export type HttpErrorCode = "Unreachable" | "Untrusted" | "TimedOut" | "TooLarge";

/** No answer, and why. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws HttpError, or the reason of `signal` when that is aborted. */
export type HttpClient = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;
