import { X509Certificate } from "node:crypto";
import { BlockList, isIP, isIPv6 } from "node:net";
import { createSecureContext } from "node:tls";
import { keptText, messageOf, UsageError } from "@isthmus/core";
import { pemBlocks } from "@isthmus/core/pem";
import { yamlValue } from "@isthmus/core/yaml";
import type { ApiCredentials, Kubeconfig } from "./kubeconfig.ts";

/** A kubeconfig with certificates takes some 10 KiB. */
const MAX_KUBECONFIG_BYTES = 64 * 1024;

const FIELDS = {
  cluster: new Set(["server", "certificate-authority-data", "tls-server-name"]),
  user: new Set(["token", "client-certificate-data", "client-key-data"]),
};
/** Without effect on where is connected to, or as whom. */
const IDLE: ReadonlySet<string> = new Set(["extensions", "disable-compression"]);

/** Why a field is refused. */
const REASONS: Readonly<Record<string, string>> = {
  exec: "it would run a program in the management server",
  "auth-provider": "it would run a program in the management server",
  "proxy-url": "it would redirect requests for the cluster",
  "insecure-skip-tls-verify": "any server could impersonate the cluster",
  "certificate-authority": "it refers to a file of the management server",
  "client-certificate": "it refers to a file of the management server",
  "client-key": "it refers to a file of the management server",
  tokenFile: "it refers to a file of the management server",
  "token-file": "it refers to a file of the management server",
};

const REMEDY = 'use a kubeconfig such as "meshctl cluster register" creates';

/**
 * A kubeconfig that stands in a Secret. Anyone who may write Secrets in the plane's namespace must not be able to run programs in the
 * management server or to read its files: what counts is the server, its CA, `tls-server-name`, a token and a client certificate, all of
 * them in the text itself; everything else that has an effect is refused by its name. Throws UsageError.
 */
export function kubeconfigOfSecret(text: string): Kubeconfig {
  const { cluster, user } = currentContext(text);
  requireFields("cluster", cluster);
  requireFields("user", user);
  const server = serverIn(cluster);
  const credentials = credentialsIn(cluster, user);
  return { server, credentials: () => Promise.resolve(credentials) };
}

type Entry = Readonly<Record<string, unknown>>;

function currentContext(text: string): { readonly cluster: Entry; readonly user: Entry } {
  const config = entry("", read(text));
  const name = textOf("current-context", config["current-context"] ?? "");
  const context = named(config, "contexts", "context", name);
  return {
    cluster: named(config, "clusters", "cluster", textOf(`context ${name}: cluster`, context["cluster"] ?? "")),
    user: named(config, "users", "user", textOf(`context ${name}: user`, context["user"] ?? "")),
  };
}

function read(text: string): unknown {
  try {
    return yamlValue(text, { maxBytes: MAX_KUBECONFIG_BYTES });
  } catch (error) {
    throw new UsageError(`is not a kubeconfig: ${messageOf(error)}`);
  }
}

/** The entry of a list by its name, as kubeconfigs have them. */
function named(config: Entry, list: string, field: string, name: string): Entry {
  const items: unknown = config[list] ?? [];
  if (!Array.isArray(items)) throw new UsageError(`${list}: must be a list`);
  const found = items.map((item: unknown) => entry(list, item)).find((item) => item["name"] === name);
  if (found === undefined) throw new UsageError(`${list}: ${field} ${name || "without a name"}, which the current-context uses, not found`);
  return entry(`${list}[${name}].${field}`, found[field]);
}

function entry(path: string, value: unknown): Entry {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Entry;
  throw new UsageError(path === "" ? "is not a kubeconfig" : `${path}: must be an object`);
}

function textOf(path: string, value: unknown): string {
  if (typeof value !== "string") throw new UsageError(`${path}: must be a string`);
  return value;
}

function requireFields(what: "cluster" | "user", fields: Entry): void {
  for (const [name, value] of Object.entries(fields)) {
    // What is switched off has no effect.
    const isSet = value !== undefined && value !== null && value !== false && value !== "";
    if (!isSet || FIELDS[what].has(name) || IDLE.has(name)) continue;
    const reason = Object.hasOwn(REASONS, name) ? REASONS[name] : "it is not supported in a Secret";
    const known = [...FIELDS[what]].join(", ");
    throw new UsageError(`${what}.${name} is refused: ${reason}: remove it (supported fields: ${known}), or ${REMEDY}`);
  }
}

// Where clouds answer with a machine's own credentials.
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet("169.254.0.0", 16, "ipv4");
LINK_LOCAL.addSubnet("fe80::", 10, "ipv6");
LINK_LOCAL.addSubnet("::ffff:169.254.0.0", 112, "ipv6");
// Amazon's, by its fixed address.
LINK_LOCAL.addAddress("fd00:ec2::254", "ipv6");

const MAX_SERVER = 2_048;

function serverIn({ server: given }: Entry): string {
  const server = textOf("cluster.server", given ?? "");
  if (server.length > MAX_SERVER) throw new UsageError(`cluster.server: ${shown(server)} is longer than ${MAX_SERVER} characters`);
  if (!URL.canParse(server)) throw new UsageError(`cluster.server: ${shown(server)} is not a URL`);
  const { protocol, hostname, username, password, search, hash } = new URL(server);
  if (protocol !== "https:") throw new UsageError(`cluster.server: ${shown(server)} is refused: https is required to verify the cluster`);
  if (username !== "" || password !== "" || search !== "" || hash !== "") {
    throw new UsageError("cluster.server: must be https://HOST, optionally with a port and a path");
  }
  const address = hostname.replace("[", "").replace("]", "");
  if (isIP(address) !== 0 && LINK_LOCAL.check(address, isIPv6(address) ? "ipv6" : "ipv4")) {
    throw new UsageError(`cluster.server: ${shown(server)} is refused: link-local addresses are not allowed`);
  }
  return server.endsWith("/") ? withoutSlashes(server) : server;
}

function withoutSlashes(server: string): string {
  let end = server.length;
  while (server[end - 1] === "/") end--;
  return server.slice(0, end);
}

function shown(text: string): string {
  return text.length > 200 ? `${keptText(text, 200)}…` : text;
}

function credentialsIn(cluster: Entry, user: Entry): ApiCredentials {
  const ca = certificatesIn("cluster.certificate-authority-data", cluster["certificate-authority-data"]);
  const cert = certificatesIn("user.client-certificate-data", user["client-certificate-data"]);
  const key = pemIn("user.client-key-data", user["client-key-data"]);
  const token = tokenIn(user["token"]);
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError(`user.client-certificate-data and user.client-key-data must be set together: ${REMEDY}`);
  }
  if (token === undefined && cert === undefined) {
    throw new UsageError(`user: has neither token nor client-certificate-data: ${REMEDY}`);
  }
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...serverNameIn(cluster["tls-server-name"]),
  };
  try {
    // Here, and not within a request.
    createSecureContext(tls);
  } catch (error) {
    throw new UsageError(`its certificates cannot be used: ${messageOf(error)}`);
  }
  return { headers: token === undefined ? {} : { authorization: `Bearer ${token}` }, tls };
}

function serverNameIn(value: unknown): { readonly servername?: string } {
  const name = textOf("cluster.tls-server-name", value ?? "");
  if (name === "") return {};
  if (name.length > 253 || !isOf(name, NAME_CHARACTERS)) throw new UsageError(`cluster.tls-server-name: ${shown(name)} is not a DNS name`);
  return { servername: name };
}

function tokenIn(value: unknown): string | undefined {
  const token = textOf("user.token", value ?? "").trim();
  if (token === "") return undefined;
  if (token.length > MAX_TOKEN || !isOf(token, TOKEN_CHARACTERS)) {
    throw new UsageError(`user.token: must be at most ${MAX_TOKEN} printable characters without spaces`);
  }
  return token;
}

// What fits into a header.
const MAX_TOKEN = 8 * 1024;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const NAME_CHARACTERS: ReadonlySet<string> = new Set(`${LETTERS}.-`);
const TOKEN_CHARACTERS: ReadonlySet<string> = new Set(Array.from({ length: 0x7e - 0x20 }, (_, i) => String.fromCharCode(0x21 + i)));

function isOf(text: string, characters: ReadonlySet<string>): boolean {
  for (const character of text) if (!characters.has(character)) return false;
  return true;
}

function certificatesIn(field: string, value: unknown): string | undefined {
  const pem = pemIn(field, value);
  if (pem === undefined) return undefined;
  for (const { label, der } of blocksOf(field, pem)) {
    if (label !== "CERTIFICATE") throw new UsageError(`${field}: must contain only certificates, as base64 of PEM`);
    try {
      // Node would pass over an authority that is none, without a word.
      new X509Certificate(der);
    } catch (error) {
      throw new UsageError(`${field}: its certificates cannot be used: ${messageOf(error)}`);
    }
  }
  return pem;
}

function pemIn(field: string, value: unknown): string | undefined {
  const base64 = textOf(field, value ?? "");
  if (base64 === "") return undefined;
  const pem = Buffer.from(base64, "base64").toString("latin1");
  if (blocksOf(field, pem).length === 0) throw new UsageError(`${field}: is not base64 of PEM`);
  return pem;
}

function blocksOf(field: string, pem: string): ReturnType<typeof pemBlocks> {
  try {
    return pemBlocks(pem);
  } catch (error) {
    throw new UsageError(`${field}: ${messageOf(error)}`);
  }
}
