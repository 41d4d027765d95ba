import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Who asks. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The one who comes without a token. */
export const ANONYMOUS: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"] };

/** Tells users by their tokens, and makes tokens of ServiceAccounts. */
export interface Tokens {
  userOf(token: string, now: number): User | undefined;
  issue(account: AccountToken, now: number): string;
}

export interface AccountToken {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

export const ISSUER = "https://kubernetes.default.svc";

/** Tokens of named users, and those that ServiceAccounts are given: signed with a key of this process. */
export function tokensOf(users: ReadonlyMap<string, User>): Tokens {
  const key = randomBytes(32);
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    userOf(token, now) {
      for (const [known, user] of users) if (isSame(known, token)) return user;
      const [head = "", body = "", signature = ""] = token.split(".");
      if (signature === "" || !isSame(sign(`${head}.${body}`), signature)) return undefined;
      const { sub, exp, kubernetes } = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Claims;
      if (exp * 1000 < now) return undefined;
      const [, , namespace = ""] = sub.split(":");
      const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
      return { name: sub, uid: kubernetes.uid, groups };
    },
    issue({ namespace, name, uid, audiences, expirationSeconds }, now) {
      const iat = Math.floor(now / 1000);
      const sub = `system:serviceaccount:${namespace}:${name}`;
      const claims: Claims = { iss: ISSUER, aud: audiences, sub, iat, nbf: iat, exp: iat + expirationSeconds, kubernetes: { uid } };
      const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
      return `${text}.${sign(text)}`;
    },
  };
}

interface Claims {
  readonly iss: string;
  readonly aud: readonly string[];
  readonly sub: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly kubernetes: { readonly uid: string };
}

function isSame(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}
