import { UsageError } from "@isthmus/core";
import { kubeconfigOfSecret } from "@isthmus/kubernetes";
import type { Random } from "../../faults/random.ts";
import { hostileText, hostileValue } from "../drawing/hostile.ts";
import { mutatedBytes, mutatedText } from "../drawing/mutated.ts";
import { hostileYaml } from "../drawing/yaml.ts";
import type { Target } from "../target.ts";

// Nothing that a program on this machine could be meant by: what `exec` names is not there.
const NOWHERE = "/nonexistent/isthmus-fuzz";

/** A kubeconfig as registration makes it, and what else one may hold. */
const KUBECONFIG = {
  apiVersion: "v1",
  kind: "Config",
  "current-context": "c",
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": "AAAA", "tls-server-name": "x" } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "u", namespace: "n" } }],
  users: [{ name: "u", user: { token: "t", "client-certificate-data": "AAAA", "client-key-data": "AAAA" } }],
};

const MORE: Readonly<Record<string, unknown>> = {
  exec: { apiVersion: "client.authentication.k8s.io/v1", command: NOWHERE, args: ["a"], env: [{ name: "A", value: "b" }] },
  tokenFile: `${NOWHERE}/token`,
  "client-key": `${NOWHERE}/key`,
  "auth-provider": { name: "gcp", config: { "cmd-path": NOWHERE, "cmd-args": "", "expiry-key": "{.x}", "token-key": "{.y}" } },
  username: "u",
  password: "p",
  impersonate: "admin",
};

/** Kubeconfigs, which are what Secrets in the plane's namespace hold. */
export const kubeconfig: Target = {
  name: "kubeconfig",
  about: "kubeconfigs as Secrets hold them: reading, and credentials",
  draw(random) {
    if (random.int(4) === 0) return hostileYaml(random, [JSON.stringify(KUBECONFIG)]);
    const [user] = KUBECONFIG.users;
    const [key, value] = random.pick(Object.entries(MORE));
    const config = random.int(3) === 0 ? { ...KUBECONFIG, users: [{ name: "u", user: { ...user?.user, [key]: value } }] } : KUBECONFIG;
    return mutatedBytes(Buffer.from(random.int(20) === 0 ? around(random) : mutatedText(config, random, 2)), random, 1);
  },
  async start() {
    return {
      async take(input) {
        try {
          await kubeconfigOfSecret(input.toString("utf8")).credentials(false);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
        }
      },
      stop: async () => undefined,
    };
  },
};

function around(random: Random): string {
  return `{"clusters":${hostileValue(random)},"users":${hostileValue(random)},"contexts":[${hostileValue(random)}],"current-context":${hostileText(random)}}`;
}
