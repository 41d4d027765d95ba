import { createMeshRoot, issueIntermediate, type KeyedCertificate } from "@isthmus/certificates";
import type { HttpAnswer, HttpClient, HttpRequest } from "../src/index.ts";
import { clock } from "./virtualTime.ts";

/** What a server with the endpoints of Vault answers that agents call. It is a double of these endpoints, and no Vault. */
export interface VaultDouble {
  readonly http: HttpClient;
  /** The root that signs; another one is a rotation in Vault. */
  root: KeyedCertificate;
  /** Answers instead of it where it gives something, or throws. */
  fault: ((request: HttpRequest) => HttpAnswer | Promise<HttpAnswer> | undefined) | undefined;
  /** Every request that came. */
  readonly requests: HttpRequest[];
}

export const VAULT = "https://vault.example.com:8200";

/** A double whose mount is `pki`, and whose role `istio` admits the account token `account`. */
export async function vaultDouble(): Promise<VaultDouble> {
  const double: VaultDouble = { root: await newRoot("first"), fault: undefined, requests: [], http: (request) => answer(request) };

  async function answer(request: HttpRequest): Promise<HttpAnswer> {
    double.requests.push(request);
    const instead = await double.fault?.(request);
    if (instead !== undefined) return instead;
    const { method, url, headers, body = "{}" } = request;
    const content = JSON.parse(body) as Readonly<Record<string, string>>;
    switch (`${method} ${url}`) {
      case `GET ${VAULT}/v1/pki/ca_chain`:
        return { status: 200, body: "" };
      case `GET ${VAULT}/v1/pki/ca/pem`:
        return { status: 200, body: double.root.certificate };
      case `POST ${VAULT}/v1/auth/kubernetes/login`:
        if (content["jwt"] !== "account" || content["role"] !== "istio") return refusal(403, "permission denied");
        return { status: 200, body: JSON.stringify({ auth: { client_token: "token-of-login" } }) };
      case `POST ${VAULT}/v1/pki/root/sign-intermediate`:
        if (headers["x-vault-token"] !== "token-of-login" && headers["x-vault-token"] !== "token-of-secret")
          return refusal(403, "permission denied");
        return {
          status: 200,
          body: JSON.stringify({ data: { certificate: await signed(double.root, content), issuing_ca: double.root.certificate } }),
        };
      default:
        return refusal(404);
    }
  }

  return double;
}

/** As Vault words it. */
export function refusal(status: number, ...errors: readonly string[]): HttpAnswer {
  return { status, body: JSON.stringify({ errors }) };
}

export function newRoot(commonName: string): Promise<KeyedCertificate> {
  return createMeshRoot({ commonName, organization: "vault", lifetimeMs: 3650 * DAY_MS, now: clock.now() }, "P-256");
}

/** The CA for a request of `sign-intermediate`. */
export function signed(root: KeyedCertificate, content: Readonly<Record<string, string>>): Promise<string> {
  const { csr = "", common_name: commonName = "", organization = "", uri_sans: uris = "", ttl = "" } = content;
  const lifetimeMs = Number.parseInt(ttl, 10) * 3_600_000;
  return issueIntermediate(root, csr, { commonName, organization, uris: uris.split(","), lifetimeMs, now: clock.now() });
}

const DAY_MS = 86_400_000;
