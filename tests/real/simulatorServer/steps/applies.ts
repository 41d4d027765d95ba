import { kubectl, request, type Scenario } from "../step.ts";

const web = (image: string, more = "") => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: ${image}
${more}`;
const map = (data: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: ${data}}`;

/** Server-side apply, and what clients that apply see of each other. */
export const applies: readonly Scenario[] = [
  {
    name: "server-side apply with managers, conflicts and force",
    steps: [
      kubectl("apply --server-side -f -", web("example.com/web:1")),
      kubectl("apply --server-side -f -", web("example.com/web:1")),
      kubectl("get deployment web -o yaml --show-managed-fields"),
      kubectl("scale deployment web --replicas=4"),
      kubectl("apply --server-side -f -", web("example.com/web:1").replace("spec:\n  selector", "spec:\n  replicas: 2\n  selector")),
      kubectl(
        "apply --server-side -f - --force-conflicts",
        web("example.com/web:1").replace("spec:\n  selector", "spec:\n  replicas: 2\n  selector"),
      ),
      kubectl("apply --server-side -f - --field-manager=other", web("example.com/web:2")),
      kubectl("apply --server-side -f - --field-manager=other --force-conflicts", web("example.com/web:2")),
      kubectl("get deployment web -o jsonpath={.metadata.managedFields[*].manager}"),
      kubectl("apply --server-side -f -", web("example.com/web:1")),
      kubectl("apply --server-side -f - --dry-run=server", web("example.com/web:5", "        ports: [{containerPort: 80}]")),
      kubectl(
        "apply --server-side -f - --field-manager=third",
        web("example.com/web:2", "        ports: [{containerPort: 80}, {containerPort: 81}]"),
      ),
      kubectl("apply --server-side -f - --field-manager=third", web("example.com/web:2", "        ports: [{containerPort: 81}]")),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].ports}"),
      kubectl("apply --server-side -f -", web("example.com/web:1", "        colour: red")),
      kubectl("apply --server-side -f - --validate=false --field-manager=other", web("example.com/web:2", "        colour: red")),
      kubectl("get deployment web -o yaml --show-managed-fields"),
      kubectl("diff --server-side -f - --field-manager=other", web("example.com/web:2")),
      kubectl("delete deployment web"),
    ],
  },
  {
    name: "owners of the members of a map",
    steps: [
      kubectl("apply --server-side --field-manager=a -f -", map("{x: '1', y: '1'}")),
      kubectl("apply --server-side --field-manager=b -f -", map("{y: '1', z: '1'}")),
      kubectl("apply --server-side --field-manager=b -f -", map("{x: '2', y: '2'}")),
      kubectl("apply --server-side --field-manager=a -f -", map("{x: '1'}")),
      kubectl("get configmap one -o jsonpath={.data}"),
      kubectl("apply --server-side --field-manager=b -f -", map("{}")),
      kubectl("get configmap one -o yaml --show-managed-fields"),
      kubectl("apply -f -", map("{x: '9'}")),
      kubectl("apply -f -", map("{x: '8'}")),
      kubectl("get configmap one -o yaml"),
      kubectl("apply --server-side -f -", map("{x: '8'}")),
      kubectl("apply --server-side -f -", map("{x: '7', w: '1'}")),
      kubectl("apply view-last-applied configmap one"),
      kubectl("replace -f -", map("{x: '7'}")),
      kubectl("replace --force -f -", map("{x: '6'}")),
      kubectl("get configmap one -o jsonpath={.data}"),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=me",
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "two" }, data: { a: "1" } },
        "application/apply-patch+yaml",
      ),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=you",
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "two" }, data: { a: "2" } },
        "application/apply-patch+yaml",
      ),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=you&force=true",
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "two" }, data: { a: "2" } },
        "application/apply-patch+yaml",
      ),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=you",
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "three" }, data: { a: "2" } },
        "application/apply-patch+yaml",
      ),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=you",
        { kind: "ConfigMap", metadata: { name: "two" } },
        "application/apply-patch+yaml",
      ),
      request(
        "PATCH",
        "/api/v1/namespaces/NS/configmaps/two?fieldManager=you",
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "two", managedFields: [] } },
        "application/apply-patch+yaml",
      ),
    ],
  },
];
