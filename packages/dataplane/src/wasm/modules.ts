import { createHash } from "node:crypto";
import type { FetchAllowance } from "../moduleAddress.ts";
import { askModule, ModuleUnavailable, shown } from "./moduleRequest.ts";

/** A module on an HTTP server. */
export interface HttpModule {
  readonly uri: string;
  /** SHA-256 of the module, in hexadecimal. */
  readonly sha256: string;
}

/** How modules are fetched. */
export interface FetchOptions {
  readonly allowance?: FetchAllowance;
  /** Of one request, with its redirects. Default: 30 s. */
  readonly timeoutMs?: number;
}

/** Most bytes of a module: what a proxy is sent in one message. */
export const MOST_MODULE_BYTES = 16 * 1024 * 1024;

/** Fetches a module, and checks that it is the one that was asked for. Throws ModuleUnavailable, and what `signal` was aborted with. */
export async function fetchHttpModule(
  { uri, sha256 }: HttpModule,
  { allowance = {}, ...rest }: FetchOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const url = URL.parse(uri);
  if (url === null) throw new ModuleUnavailable("the URI is no URL: write http:// or https://, a host and a path");
  if (url.username !== "" || url.password !== "")
    throw new ModuleUnavailable(`${shown(url)}: a URI with a user or password is not supported`);
  const { status, body } = await askModule({ url, most: MOST_MODULE_BYTES, allowance, ...rest }, signal);
  if (status !== 200) throw new ModuleUnavailable(`${shown(url)}: answered with status ${status}`);
  return checkedModule(body, sha256, shown(url));
}

/** The same bytes, if they have this SHA-256 and begin as a module does. Throws ModuleUnavailable. */
export function checkedModule(bytes: Uint8Array, sha256: string, from: string): Uint8Array {
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== sha256.toLowerCase()) throw new ModuleUnavailable(`${from}: has another SHA-256 than the expected one`);
  // Source: WebAssembly, “Binary Format”, modules.
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) throw new ModuleUnavailable(`${from}: is not a WebAssembly module`);
  return bytes;
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
