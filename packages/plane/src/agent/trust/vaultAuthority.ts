import type { IssuedCertificateSpec } from "@isthmus/api";
import { keptText } from "@isthmus/core";
import { type HttpClient, HttpError } from "@isthmus/ports";
import { AuthorityProblem } from "./authoritySecrets.ts";

/** Where Vault is and how it knows the agent, as a VirtualMesh names it. */
export type VaultSource = NonNullable<NonNullable<IssuedCertificateSpec["agentCa"]>["vault"]>;

/** What a CA is asked for. */
export interface VaultRequest {
  /** PEM of the request. */
  readonly request: string;
  readonly commonName: string;
  readonly organization: string;
  readonly uris: readonly string[];
  readonly ttlDays: number;
}

/** What Vault signed, in PEM. Nothing of it is verified yet but that it is there. */
export interface VaultAnswer {
  readonly certificate: string;
  /** The authorities between it and the root, and the root, which is the last. */
  readonly authorities: readonly string[];
}

/** An intermediate authority in Vault. Each method throws AuthorityProblem, with server and remedy. */
export interface VaultAuthority {
  /** The authorities that would sign, up to the root, which is the last. No token is needed for that. */
  authorities(vault: VaultSource, signal: AbortSignal): Promise<readonly string[]>;
  sign(vault: VaultSource, wanted: VaultRequest, signal: AbortSignal): Promise<VaultAnswer>;
}

export interface VaultAuthorityOptions {
  readonly http: HttpClient;
  /**
   * The servers that the operator who installed the agent lets it call, as `https://host:port`. A VirtualMesh is written elsewhere: without this,
   * its writers could have the agent's tokens sent to any server, and requests to any address that it reaches.
   */
  readonly servers: readonly string[];
  /** Of the agent: tokens in other namespaces are none of its own. */
  readonly namespace: string;
  /** The token of the agent's own account that is made for Vault. */
  readonly accountToken: () => Promise<string>;
  /** What a Secret of this cluster holds as `token`. */
  readonly tokenIn: (ref: { readonly name: string; readonly namespace: string }) => Promise<string | undefined>;
}

/** Asks Vault over `http`; keeps no token, and logs none. */
export function vaultAuthority({ http, servers, namespace, accountToken, tokenIn }: VaultAuthorityOptions): VaultAuthority {
  async function call(vault: VaultSource, { method, path, token, content }: Call, signal: AbortSignal): Promise<string> {
    const server = serverOf(vault, servers);
    const headers = {
      accept: "application/json",
      // Proxies of Vault pass on what they would cache otherwise. Source: HashiCorp, "Vault HTTP API".
      "x-vault-request": "true",
      ...(vault.namespace ? { "x-vault-namespace": headerValue(vault.namespace) } : {}),
      ...(token === undefined ? {} : { "x-vault-token": token }),
      ...(content === undefined ? {} : { "content-type": "application/json" }),
    };
    const body = content === undefined ? {} : { body: JSON.stringify(content) };
    const roots = vault.caBundle ? { roots: rootsIn(vault.caBundle, server) } : {};
    try {
      const { status, body: text } = await http(
        { method, url: `${server}/v1/${path}`, headers, ...body, ...roots, mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS },
        signal,
      );
      if (status >= 200 && status < 300) return text;
      throw new AuthorityProblem(refusal({ server, method, path, status, text }));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new AuthorityProblem(`Vault ${server} ${FAILURES[error.code](error.message)}`);
    }
  }

  async function tokenFor(vault: VaultSource, signal: AbortSignal): Promise<string> {
    const { tokenSecretRef, kubernetesAuth } = vault;
    if (kubernetesAuth !== undefined) return login(vault, kubernetesAuth, signal);
    const { name = "", namespace: of = "" } = tokenSecretRef ?? {};
    if (name === "") throw new AuthorityProblem(`Vault ${vault.server ?? ""} needs a login: set kubernetesAuth.role or tokenSecretRef`);
    if (of !== namespace) {
      throw new AuthorityProblem(
        `tokenSecretRef names Secret ${of}/${name}, and the agent uses tokens of its own namespace alone: create the Secret in namespace ${namespace} of each cluster`,
      );
    }
    const token = await tokenIn({ name, namespace: of });
    if (token === undefined || token.trim() === "") {
      throw new AuthorityProblem(
        `Secret ${of}/${name} has no key token: create it in this cluster with a token of Vault ${vault.server ?? ""}`,
      );
    }
    return headerValue(token.trim());
  }

  async function login(vault: VaultSource, auth: NonNullable<VaultSource["kubernetesAuth"]>, signal: AbortSignal): Promise<string> {
    const { mountPath = "", role = "", serviceAccountRef, mountedSaPath } = auth;
    if (serviceAccountRef !== undefined || (mountedSaPath ?? DEFAULT_ACCOUNT_PATH) !== DEFAULT_ACCOUNT_PATH) {
      throw new AuthorityProblem(
        "kubernetesAuth.serviceAccountRef and mountedSaPath are not supported: the agent logs in with its own ServiceAccount: remove them, and let the role of Vault admit that account",
      );
    }
    if (role === "") throw new AuthorityProblem("kubernetesAuth.role is missing: name the role of Vault's Kubernetes authentication");
    const path = `${pathOf(mountPath || DEFAULT_MOUNT, "kubernetesAuth.mountPath")}/login`;
    const text = await call(vault, { method: "POST", path, content: { role, jwt: await accountToken() } }, signal);
    const token = fieldOf(fieldOf(parsed(text), "auth"), "client_token");
    if (typeof token !== "string" || token === "") throw unreadable(vault, path);
    return headerValue(token);
  }

  return {
    async authorities(vault, signal) {
      const mount = mountOf(vault);
      const chain = certificatesIn(await call(vault, { method: "GET", path: `${mount}/ca_chain` }, signal));
      // A root has no chain in older versions.
      const found = chain.length > 0 ? chain : certificatesIn(await call(vault, { method: "GET", path: `${mount}/ca/pem` }, signal));
      if (found.length === 0) throw unreadable(vault, `${mount}/ca/pem`);
      return found;
    },
    async sign(vault, { request, commonName, organization, uris, ttlDays }, signal) {
      const path = `${mountOf(vault)}${SIGN}`;
      const token = await tokenFor(vault, signal);
      const content = {
        csr: request,
        format: "pem",
        ttl: `${ttlDays * 24}h`,
        common_name: commonName,
        exclude_cn_from_sans: true,
        organization,
        uri_sans: uris.join(","),
        max_path_length: 0,
      };
      const data = fieldOf(parsed(await call(vault, { method: "POST", path, token, content }, signal)), "data");
      const certificate = certificatesIn(fieldOf(data, "certificate"))[0];
      const chain = fieldOf(data, "ca_chain");
      const listed = (Array.isArray(chain) ? chain : []).flatMap((one: unknown) => certificatesIn(one));
      const authorities = listed.length > 0 ? listed : certificatesIn(fieldOf(data, "issuing_ca"));
      if (certificate === undefined || authorities.length === 0) throw unreadable(vault, path);
      return { certificate, authorities };
    },
  };
}

interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly token?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

/** The server as a URL without path, if the agent may call it. */
function serverOf({ server = "" }: VaultSource, servers: readonly string[]): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const isPlain =
    url !== undefined && /^https?:$/.test(url.protocol) && /^\/?$/.test(url.pathname) && url.search + url.hash + url.username === "";
  if (url === undefined || !isPlain) {
    throw new AuthorityProblem(
      `vault.server "${keptText(server, 256)}" is not the URL of a server: set it like https://vault.example.com:8200`,
    );
  }
  if (servers.some((one) => URL.canParse(one) && new URL(one).origin === url.origin)) return url.origin;
  throw new AuthorityProblem(
    `Vault ${url.origin} is none of the servers that this agent may call: add it to the value meshCertificates.vault.servers of the agent's chart, or correct vault.server`,
  );
}

/** The path of the secrets engine. */
function mountOf({ caPath = "" }: VaultSource): string {
  const path = pathOf(caPath, "vault.caPath");
  if (path.endsWith(SIGN) && path.length > SIGN.length) return path.slice(0, -SIGN.length);
  throw new AuthorityProblem(`vault.caPath "${keptText(caPath, 256)}" does not end with ${SIGN}: set it like pki${SIGN}`);
}

function pathOf(text: string, field: string): string {
  const path = text.replace(/^\/?(v1\/)?/, "").replace(/\/$/, "");
  // Nothing of it can name another host, go up, or end the request's line.
  if (/^[\w-]+(\/[\w-]+)*$/.test(path)) return path;
  throw new AuthorityProblem(`${field} "${keptText(text, 256)}" is not a path in Vault: use letters, digits, "-", "_" and "/"`);
}

function headerValue(text: string): string {
  if (/^[\x21-\x7e]{1,8192}$/.test(text)) return text;
  throw new AuthorityProblem("a token or namespace of Vault contains characters that no header can hold: correct it");
}

function rootsIn(caBundle: string, server: string): string {
  try {
    const roots = atob(caBundle);
    if (certificatesIn(roots).length > 0) return roots;
  } catch {
    // No base64: as if there were no certificate in it.
  }
  throw new AuthorityProblem(`vault.caBundle for ${server} contains no certificate: set it to PEM in base64, or remove it`);
}

interface Refused {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

function refusal({ server, method, path, status, text }: Refused): string {
  const errors = fieldOf(parsed(text), "errors");
  const said = Array.isArray(errors) ? errors.filter((one) => typeof one === "string").join("; ") : "";
  const cause = said === "" ? "" : `: ${keptText(said, LONGEST_CAUSE)}`;
  const what = `Vault ${server} answers ${status} to ${method} ${path}${cause}`;
  if (status === 503) return `Vault ${server} is sealed or not ready${cause}: unseal it; it is asked again`;
  if (status >= 300 && status < 400) return `${what}: redirects are not followed: name the active server in vault.server`;
  if (status === 403) return `${what}: give the role or token of the agent a policy with update of ${path}`;
  if (status === 404) return `${what}: check vault.caPath, vault.namespace and kubernetesAuth.mountPath`;
  if (status === 400) return `${what}: correct what it names in vault or intermediateCertOptions`;
  return `${what}: see the log of Vault; it is asked again`;
}

const FAILURES: Readonly<Record<HttpError["code"], (cause: string) => string>> = {
  Unreachable: (cause) => `cannot be reached from this cluster: ${cause}: check vault.server and network policies; it is asked again`,
  Untrusted: (cause) => `has a certificate that does not verify: ${cause}: correct vault.caBundle`,
  TimedOut: (cause) => `does not answer: ${cause}: check the server and the network; it is asked again`,
  TooLarge: (cause) => `gives no answer of Vault: ${cause}: check vault.server`,
};

function unreadable({ server = "" }: VaultSource, path: string): AuthorityProblem {
  return new AuthorityProblem(`Vault ${server} gives an answer to ${path} that is none of Vault's: check vault.server and vault.caPath`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Each certificate of a PEM text, at most as many as a chain has. */
function certificatesIn(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  return (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .slice(0, MOST_AUTHORITIES)
    .map((pem) => `${pem}\n`);
}

const SIGN = "/root/sign-intermediate";
const DEFAULT_MOUNT = "auth/kubernetes";
const DEFAULT_ACCOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MOST_BYTES = 256_000;
const MOST_AUTHORITIES = 8;
const TIMEOUT_MS = 10_000;
const LONGEST_CAUSE = 512;
