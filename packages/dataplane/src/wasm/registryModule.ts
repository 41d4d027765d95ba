import { createHash } from "node:crypto";
import { imageReferenceOf, isDigest } from "./imageReference.ts";
import { askModule, type ModuleResponse, ModuleUnavailable, shown } from "./moduleRequest.ts";
import { checkedModule, type FetchOptions, MOST_MODULE_BYTES } from "./modules.ts";

/** A user of a registry. */
export interface RegistryUser {
  readonly username: string;
  readonly password: string;
}

export interface RegistryOptions extends FetchOptions {
  /** Registries that are asked by http: host, with its port if it has one. All others are asked by https. */
  readonly insecure?: ReadonlySet<string>;
  /** Whom the registry knows; default: nobody, as public images need. */
  readonly user?: RegistryUser;
}

/** A module of a registry. */
export interface RegistryModule {
  readonly bytes: Uint8Array;
  /** Of the manifest: with it the same module is fetched again, whatever the tag means then. */
  readonly digest: string;
}

/**
 * Fetches the module of an image, whose layer has the media type of WebAssembly. The digests of the reference, of the manifest and of the
 * layer must be right. Throws ModuleUnavailable, and what `signal` was aborted with. Source: OCI Distribution Specification; “Compat variant”
 * images are refused.
 */
export async function fetchRegistryModule(image: string, options: RegistryOptions, signal: AbortSignal): Promise<RegistryModule> {
  const reference = imageReferenceOf(image);
  if (reference === undefined) throw new ModuleUnavailable("the image is no reference such as registry.example.com/filters/header:v1");
  const { registry, repository, version } = reference;
  const root = new URL(`${options.insecure?.has(registry) === true ? "http" : "https"}://${registry}/v2/${repository}/`);
  let authorization: string | undefined;

  async function ask(path: string, most: number, accept: string): Promise<ModuleResponse> {
    const url = new URL(path, root);
    const send = () =>
      askModule(
        { ...requestOf(options), url, most, headers: { accept, ...(authorization === undefined ? {} : { authorization }) } },
        signal,
      );
    const first = await send();
    if (first.status === 401 && authorization === undefined) {
      authorization = await authorizationFor(first, { root, repository, options }, signal);
      return answered(await send(), url);
    }
    return answered(first, url);
  }

  const manifest = await ask(`manifests/${version}`, MOST_MANIFEST_BYTES, MANIFEST_TYPES.join(", "));
  const digest = `sha256:${createHash("sha256").update(manifest.body).digest("hex")}`;
  const from = `${registry}/${repository}`;
  if (isDigest(version) && digest !== version)
    throw new ModuleUnavailable(`${from}: the manifest has another digest than the expected one`);
  const layer = layerOf(manifest.body, from);
  const { body } = await ask(`blobs/${layer}`, MOST_MODULE_BYTES, "*/*");
  return { bytes: checkedModule(body, layer.slice("sha256:".length), from), digest };
}

function requestOf({ allowance = {}, timeoutMs }: FetchOptions) {
  return { allowance, takesOtherHosts: true, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

function answered(response: ModuleResponse, url: URL): ModuleResponse {
  const { status } = response;
  if (status === 401 || status === 403)
    throw new ModuleUnavailable(`${shown(url)}: access is denied (status ${status}): check the pull secret`);
  if (status !== 200) throw new ModuleUnavailable(`${shown(url)}: answered with status ${status}`);
  return response;
}

/** The digest of the only layer that is a module. */
function layerOf(manifest: Uint8Array, from: string): string {
  const read = parsed(manifest);
  const layers = field(read, "layers");
  if (!Array.isArray(layers))
    throw new ModuleUnavailable(`${from}: the manifest has no layers: an index of several images is not supported`);
  const found = (layers as readonly unknown[]).filter((layer) => field(layer, "mediaType") === LAYER_TYPE);
  const digest = field(found[0], "digest");
  if (found.length !== 1 || !isDigest(digest))
    throw new ModuleUnavailable(`${from}: the image must have exactly one layer of type ${LAYER_TYPE}`);
  const size = field(found[0], "size");
  if (typeof size === "number" && size > MOST_MODULE_BYTES) {
    throw new ModuleUnavailable(`${from}: the module has ${size} bytes, more than ${MOST_MODULE_BYTES}`);
  }
  return digest;
}

interface Registry {
  readonly root: URL;
  readonly repository: string;
  readonly options: RegistryOptions;
}

/** What a registry wants to see. Source: Distribution, “Token Authentication Specification”. */
async function authorizationFor(refused: ModuleResponse, { root, repository, options }: Registry, signal: AbortSignal): Promise<string> {
  const challenge = refused.headers["www-authenticate"] ?? "";
  const { user } = options;
  const basic = user === undefined ? undefined : `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
  const [scheme = ""] = challenge.split(" ");
  if (scheme.toLowerCase() === "basic" && basic !== undefined) return basic;
  const realm = URL.parse(parameterOf(challenge, "realm"));
  if (scheme.toLowerCase() !== "bearer" || realm === null)
    throw new ModuleUnavailable(`${shown(root)}: access is denied: check the pull secret`);
  // Credentials never leave encrypted connections for others.
  if (realm.protocol !== "https:" && realm.origin !== root.origin)
    throw new ModuleUnavailable(`${shown(realm)}: tokens are only asked for by https`);
  const service = parameterOf(challenge, "service");
  if (service !== "") realm.searchParams.set("service", service);
  // Never what the registry says: a token for more than this is of no use.
  realm.searchParams.set("scope", `repository:${repository}:pull`);
  const headers = basic === undefined ? {} : { authorization: basic };
  const { body } = answered(await askModule({ ...requestOf(options), url: realm, most: MOST_TOKEN_BYTES, headers }, signal), realm);
  const read = parsed(body);
  const token = field(read, "token") ?? field(read, "access_token");
  if (typeof token !== "string" || !isPrintable(token)) throw new ModuleUnavailable(`${shown(realm)}: the answer has no token`);
  return `Bearer ${token}`;
}

/** The value of `name="…"` in a challenge; "" without one. */
function parameterOf(challenge: string, name: string): string {
  const start = challenge.indexOf(`${name}="`);
  if (start < 0) return "";
  const value = challenge.slice(start + name.length + 2);
  return value.slice(0, Math.max(value.indexOf('"'), 0));
}

function isPrintable(text: string): boolean {
  return [...text].every((letter) => letter > " " && letter <= "~");
}

/** JSON of somebody else; undefined for what is none. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

const LAYER_TYPE = "application/vnd.module.wasm.content.layer.v1+wasm";
const MANIFEST_TYPES = ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"];
const MOST_MANIFEST_BYTES = 256 * 1024;
const MOST_TOKEN_BYTES = 64 * 1024;
