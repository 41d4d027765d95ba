import type { AccessReviews, KubernetesUser, ResourceAccess, TokenQuery } from "@isthmus/ports";

/** A rule as RBAC has them: what is absent is everything. */
export interface Rule {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly verb?: string;
}

/** A Kubernetes API of which a test says who bears which token, and what each user may. */
export function scriptedReviews(): AccessReviews & {
  readonly bearers: Map<string, KubernetesUser>;
  readonly rules: Map<string, readonly Rule[]>;
  readonly asked: (TokenQuery | (ResourceAccess & { readonly user: string }))[];
  problem: string | undefined;
} {
  const reviews = {
    bearers: new Map<string, KubernetesUser>(),
    rules: new Map<string, readonly Rule[]>(),
    asked: [] as (TokenQuery | (ResourceAccess & { readonly user: string }))[],
    problem: undefined as string | undefined,
    async whoBears(question: TokenQuery) {
      reviews.asked.push(question);
      if (reviews.problem !== undefined) throw new Error(reviews.problem);
      const user = reviews.bearers.get(question.token);
      return user === undefined ? { refused: "the Kubernetes API does not accept this token" } : { user };
    },
    async may({ username }: KubernetesUser, { verb, group, resource, namespace, name }: ResourceAccess) {
      reviews.asked.push({ user: username, verb, group, resource, namespace, ...(name === undefined ? {} : { name }) });
      if (reviews.problem !== undefined) throw new Error(reviews.problem);
      const plural = group === "" ? resource : `${resource}.${group}`;
      return (reviews.rules.get(username) ?? []).some(
        (rule) =>
          (rule.verb ?? verb) === verb &&
          (rule.resource ?? plural) === plural &&
          // A rule for a namespace or a name does not cover all of them.
          (rule.namespace === undefined || rule.namespace === namespace) &&
          (rule.name === undefined || rule.name === name),
      );
    },
  };
  return reviews;
}

/** A clock that a test moves. */
export function movedClock(start = 1_000_000_000_000) {
  let time = start;
  const waiting = new Set<{ readonly at: number; readonly done: () => void }>();
  return {
    now: () => time,
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        if (ms === 0) return void setImmediate(resolve);
        const abort = () => {
          waiting.delete(one);
          reject(signal?.reason);
        };
        const done = () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        };
        const one = { at: time + ms, done };
        waiting.add(one);
        signal?.addEventListener("abort", abort);
      });
    },
    async move(ms: number): Promise<void> {
      time += ms;
      for (const one of [...waiting]) {
        if (one.at > time) continue;
        waiting.delete(one);
        one.done();
      }
      for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}
