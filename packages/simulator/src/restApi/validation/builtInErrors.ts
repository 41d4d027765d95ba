import type { FieldError } from "../apiError.ts";
import { bindingErrors, dataErrors, networkPolicyErrors, priorityClassErrors, roleErrors, storageErrors, webhookErrors } from "./others.ts";
import { autoscalerErrors, budgetErrors, ingressErrors, serviceErrors } from "./services.ts";
import { type Checked, cronJobErrors, jobErrors, podErrors, workloadErrors } from "./workloads.ts";

const RBAC = "rbac.authorization.k8s.io";

const CHECKS: Readonly<Record<string, (checked: Checked) => readonly FieldError[]>> = {
  "/ConfigMap": dataErrors,
  "/Secret": dataErrors,
  "/Pod": podErrors,
  "/Service": serviceErrors,
  "/PersistentVolumeClaim": storageErrors,
  "apps/Deployment": workloadErrors,
  "apps/ReplicaSet": workloadErrors,
  "apps/StatefulSet": workloadErrors,
  "apps/DaemonSet": workloadErrors,
  "batch/Job": jobErrors,
  "batch/CronJob": cronJobErrors,
  "networking.k8s.io/Ingress": ingressErrors,
  "networking.k8s.io/NetworkPolicy": networkPolicyErrors,
  "policy/PodDisruptionBudget": budgetErrors,
  "autoscaling/HorizontalPodAutoscaler": autoscalerErrors,
  "scheduling.k8s.io/PriorityClass": priorityClassErrors,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookErrors,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookErrors,
  [`${RBAC}/Role`]: roleErrors,
  [`${RBAC}/ClusterRole`]: roleErrors,
  [`${RBAC}/RoleBinding`]: bindingErrors,
  [`${RBAC}/ClusterRoleBinding`]: bindingErrors,
};

/** What is wrong with an object of a built-in kind beside its metadata; kinds that nobody here writes are not looked at. */
export function builtInErrors(kindKey: string, checked: Checked): readonly FieldError[] {
  const check = Object.hasOwn(CHECKS, kindKey) ? CHECKS[kindKey] : undefined;
  return check === undefined ? [] : check(checked);
}
