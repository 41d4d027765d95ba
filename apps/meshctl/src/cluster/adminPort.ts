import { readFileSync } from "node:fs";
import { fileProblem, messageOf, UsageError } from "@isthmus/core";

/** Where the admin port of a management server is, and who asks. */
export interface AdminAddress {
  readonly url: string;
  /** File with a token for the port; none is needed on the loopback interface. */
  readonly tokenFile?: string;
}

/** Gets the text of a page of an admin port. Throws UsageError with the remedy. */
export type ReadAdminPage = (address: AdminAddress, path: string, signal: AbortSignal) => Promise<string>;

// The last 1,000 deletes, or the metrics of thousands of clusters.
const MAX_BYTES = 64 * 1024 * 1024;

/** By HTTP. */
export const readAdminPage: ReadAdminPage = async ({ url, tokenFile }, path, signal) => {
  const address = addressOf(url, path);
  const token = tokenFile === undefined ? undefined : tokenIn(tokenFile);
  const response = await fetchPage(address, token, signal);
  if (!response.ok) throw new UsageError(`${address}: ${await refusalText(response)}${remedyFor(response.status)}`);
  return boundedText(response.body ?? [], String(address));
};

function addressOf(url: string, path: string): URL {
  const isUrl = URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
  if (!isUrl) throw new UsageError(`--admin-address ${url}: must be a URL such as http://127.0.0.1:9091`);
  return new URL(path, url);
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`--admin-token-file ${file}: ${fileProblem(error)}`);
  }
}

async function fetchPage(address: URL, token: string | undefined, signal: AbortSignal): Promise<Response> {
  try {
    // A redirect could lead the token elsewhere.
    return await fetch(address, {
      signal,
      redirect: "error",
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new UsageError(
      `cannot reach the admin port at ${address.origin}: ${messageOf(cause) || "connection refused"}. ` +
        "Check that the address is right; without --admin-address a server in a cluster is reached through its API server",
    );
  }
}

/** The server's own sentence, as far as it is one. */
async function refusalText(response: Response): Promise<string> {
  const text = await boundedText(response.body ?? [], response.url).catch(() => "");
  return text.trim() === "" ? `HTTP status ${response.status}` : text.trim().slice(0, 500);
}

function remedyFor(status: number): string {
  return status === 401 ? ". Put the token into a file, and pass it with --admin-token-file" : "";
}

/** A whole answer, as text. Throws UsageError for one that is too large for any page of `place`. */
export async function boundedText(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, place: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new UsageError(`${place}: the answer is larger than ${MAX_BYTES / (1024 * 1024)} MiB: is it the admin port?`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
