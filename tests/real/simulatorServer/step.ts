/** One thing that is done to both API servers: a command of kubectl, or a request. */
export type Step = Done & {
  /** Why the outcomes may differ. */
  readonly differs?: string;
};

type Done =
  | { readonly kubectl: readonly string[]; readonly input?: string; readonly env?: Readonly<Record<string, string>> }
  | { readonly method: string; readonly path: string; readonly body?: string; readonly type?: string; readonly accept?: string };

/** Steps that follow one from the other, in a namespace of their own. */
export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** A command, as a user types it: words in quotes are one. `input` goes to standard input: YAML, or an object. */
export function kubectl(command: string, input?: string | object, env?: Readonly<Record<string, string>>): Step {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
  return {
    kubectl: words,
    ...(input === undefined ? {} : { input: typeof input === "string" ? input : JSON.stringify(input) }),
    ...(env === undefined ? {} : { env }),
  };
}

/** A request, of a type where it has a body. */
export function request(method: string, path: string, body?: unknown, type = "application/json"): Step {
  if (body === undefined) return { method, path };
  return { method, path, body: typeof body === "string" ? body : JSON.stringify(body), type };
}

/** What a step is called: the command, or the request. */
export function titleOf(step: Step): string {
  return "kubectl" in step ? `kubectl ${step.kubectl.join(" ")}` : `${step.method} ${step.path}`;
}

/** A step of which the outcomes may differ, with the reason. */
export function differing(step: Step, reason: string): Step {
  return { ...step, differs: reason };
}

/** A request for another form of its answer. */
export function accepting(step: Step, accept: string): Step {
  return { ...step, accept } as Step;
}
