import type { AccessCaller, AccessQuery } from "@isthmus/translators";
import { AccessPolicy } from "../data/kinds.ts";
import { yamlText } from "../model/lines/yamlLines.ts";

/** A Service, as Destinations name it. */
export interface NamedService {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

const LONGEST_NAME = 63;

/** An AccessPolicy in YAML that lets a caller send such requests to a Service: what the question leaves out, it does not restrict. */
export function allowingPolicy({ caller, port, method, path }: AccessQuery, { name, namespace, clusterName }: NamedService): string {
  return yamlText({
    apiVersion: AccessPolicy.apiVersion,
    kind: AccessPolicy.kind,
    metadata: { name: policyName(caller, name), namespace: "gloo-mesh" },
    spec: {
      sourceSelector: [
        {
          kubeServiceAccountRefs: {
            serviceAccounts: [{ name: caller.serviceAccount, namespace: caller.namespace, clusterName: caller.clusterName }],
          },
        },
      ],
      destinationSelector: [{ kubeServiceRefs: { services: [{ name, namespace, clusterName }] } }],
      ...(method === undefined ? {} : { allowedMethods: [method] }),
      ...(path === undefined ? {} : { allowedPaths: [path] }),
      ...(port === undefined ? {} : { allowedPorts: [port] }),
    },
  });
}

/** Not one that ends with what a name may not end with. */
function policyName({ serviceAccount }: AccessCaller, service: string): string {
  return `allow-${serviceAccount}-to-${service}`.slice(0, LONGEST_NAME).replace(/[^a-z0-9]+$/, "");
}
