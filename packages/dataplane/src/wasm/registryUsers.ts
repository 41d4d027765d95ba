import type { RegistryUser } from "./registryModule.ts";

/**
 * The user for a registry in the configuration of Docker, as Secrets of type `kubernetes.io/dockerconfigjson` hold it; undefined where it has
 * none for it, or is no such text. Source: Kubernetes, “Pull an Image from a Private Registry”.
 */
export function registryUserIn(config: string, registry: string): RegistryUser | undefined {
  if (config.length > MOST_LETTERS) return undefined;
  const auths = objectOf(objectOf(parsed(config)).get("auths"));
  const entry = objectOf(auths.get(registry) ?? auths.get(`https://${registry}`) ?? auths.get(`https://${registry}/`));
  const [username, password, auth] = ["username", "password", "auth"].map((name) => entry.get(name));
  if (typeof username === "string" && typeof password === "string") return { username, password };
  if (typeof auth !== "string") return undefined;
  const text = Buffer.from(auth, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function objectOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : []);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

// A Secret holds 1 MiB at most.
const MOST_LETTERS = 1024 * 1024;
