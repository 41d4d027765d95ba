import { differing, kubectl, request, type Scenario } from "../step.ts";

const crontabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [timed]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: A table of times.
        required: [spec]
        properties:
          spec:
            type: object
            required: [cron]
            x-kubernetes-validations:
            - {rule: "self.min <= self.max", message: "min must not be above max"}
            - {rule: "!has(oldSelf.cron) || self.cron == oldSelf.cron", message: "cron is fixed"}
            properties:
              cron: {type: string, pattern: '^(\\S+ ){4}\\S+$', description: When it runs.}
              replicas: {type: integer, minimum: 0, maximum: 10, default: 1}
              min: {type: integer, default: 0}
              max: {type: integer, default: 5}
              mode: {type: string, enum: [fast, slow], default: fast}
              hosts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, port: {type: integer}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Cron, type: string, jsonPath: .spec.cron}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas, priority: 1}
    - {name: Phase, type: string, jsonPath: .status.phase}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
`;
const table = (spec: string) => `{apiVersion: NS.example.com/v1, kind: CronTab, metadata: {name: one}, spec: ${spec}}`;
const path = "/apis/NS.example.com/v1/namespaces/NS/crontabs";

/** A kind of a user's own, with all that a definition may say. */
export const definitions: readonly Scenario[] = [
  {
    name: "a kind of a user's own",
    steps: [
      kubectl("apply -f -", table("{cron: '* * * * *'}")),
      kubectl("apply -f -", crontabs),
      kubectl("wait --for=condition=Established crd/crontabs.NS.example.com --timeout=10s"),
      kubectl("get crd crontabs.NS.example.com -o jsonpath={.status.conditions[*].type}"),
      kubectl("get crd crontabs.NS.example.com -o yaml"),
      kubectl("api-resources --api-group=NS.example.com"),
      kubectl("apply -f -", table("{cron: '* * * * *'}")),
      kubectl("get crontab one -o yaml"),
      kubectl("get ct"),
      kubectl("get ct -o wide"),
      kubectl("get timed"),
      kubectl("describe crontab one"),
      kubectl("apply -f -", table("{cron: '* * * * *', replicas: 20}")),
      kubectl("apply -f -", table("{cron: '* * * * *', replicas: many}")),
      kubectl("apply -f -", table("{cron: '* * * * *', mode: medium}")),
      kubectl("apply -f -", table("{cron: wrong}")),
      kubectl("apply -f -", table("{replicas: 1}")),
      kubectl("apply -f -", table("{cron: '* * * * *', min: 7}")),
      kubectl("apply -f -", table("{cron: '1 * * * *'}")),
      differing(
        kubectl("apply -f -", table("{cron: '* * * * *', colour: red}")),
        "the object that the refusal shows has its fields in another order",
      ),
      kubectl("apply -f - --validate=false", table("{cron: '* * * * *', colour: red, free: {a: 1}}")),
      kubectl("get crontab one -o jsonpath={.spec}"),
      kubectl("apply --server-side --field-manager=a -f -", table("{hosts: [{name: a, port: 1}, {name: b}]}")),
      kubectl("apply --server-side --field-manager=b -f -", table("{hosts: [{name: c, port: 1}]}")),
      kubectl("get crontab one -o jsonpath={.spec.hosts}"),
      kubectl("apply --server-side --field-manager=b -f -", table("{hosts: [{name: a, port: 2}]}")),
      kubectl(`patch crontab one --type=merge -p '{"status":{"phase":"Ready"}}'`),
      kubectl("get crontab one -o jsonpath={.status}"),
      kubectl(`patch crontab one --subresource=status --type=merge -p '{"status":{"phase":"Ready"},"spec":{"replicas":3}}'`),
      kubectl("get ct"),
      kubectl(`patch crontab one -p '{"spec":{"replicas":2}}'`),
      kubectl(`patch crontab one --type=json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'`),
      kubectl("scale crontab one --replicas=4"),
      request("GET", `${path}/one/scale`),
      kubectl(`patch crontab one --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'`),
      kubectl("delete crontab one --wait=false"),
      kubectl("get crontab one -o jsonpath={.metadata.finalizers}"),
      kubectl(`patch crontab one --type=merge -p '{"metadata":{"finalizers":["bad"]}}'`),
      kubectl(`patch crontab one --type=merge -p '{"metadata":{"finalizers":null}}'`),
      kubectl("get crontab one"),
      differing(
        request("POST", path, {
          apiVersion: "NS.example.com/v1",
          kind: "CronTab",
          metadata: { name: "two" },
          spec: { cron: "* * * * *", replicas: "x", mode: 1 },
        }),
        "a real server names several fields in no order",
      ),
      request("POST", path, { apiVersion: "NS.example.com/v1", kind: "CronTab", metadata: { name: "two" } }),
      request("POST", path, { apiVersion: "NS.example.com/v2", kind: "CronTab", metadata: { name: "two" } }),
      request("POST", path, { apiVersion: "NS.example.com/v1", kind: "Other", metadata: { name: "two" } }),
      request("POST", path, { apiVersion: "NS.example.com/v1", kind: "CronTab", metadata: { name: "Two" }, spec: { cron: "* * * * *" } }),
      request("POST", path, {
        apiVersion: "NS.example.com/v1",
        kind: "CronTab",
        metadata: { name: "two" },
        spec: { cron: "* * * * *", x: { y: 1 }, z: 1 },
      }),
      request("GET", `${path}/two`),
      request("GET", path),
      kubectl("delete crontab --all"),
      kubectl("explain crontab.spec"),
      kubectl("explain crontab.spec.cron"),
      kubectl("apply -f -", crontabs.replace("min: {type: integer, default: 0}", "min: {default: 0}")),
      kubectl("apply -f -", crontabs.replace("name: crontabs.NS", "name: other.NS")),
      kubectl("apply -f -", crontabs.replace("storage: true", "storage: false")),
      kubectl("apply -f -", crontabs.replace("scope: Namespaced", "scope: Cluster")),
      differing(
        kubectl("apply -f -", crontabs.replace("self.min <= self.max", "self.min <= ")),
        "another library says what is wrong with an expression",
      ),
      kubectl("delete crd crontabs.NS.example.com"),
      kubectl("get crontab"),
    ],
  },
];
