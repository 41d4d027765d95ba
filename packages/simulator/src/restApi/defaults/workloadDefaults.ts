import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import { filled, withChanged } from "./filled.ts";
import { podSpecDefaults } from "./podDefaults.ts";

/** A template of pods. */
export function templateDefaults(template: Members): Members {
  return { ...template, spec: podSpecDefaults(membersAt(template, "spec")) };
}

function specOf(content: Members, complete: (spec: Members) => Members): Members {
  return { ...content, spec: complete(membersAt(content, "spec")) };
}

function withTemplate(spec: Members): Members {
  return { ...spec, template: templateDefaults(membersAt(spec, "template")) };
}

/** Source: pkg/apis/apps/v1/defaults.go. */
export function deploymentDefaults(content: Members): Members {
  return specOf(content, (spec) => {
    const strategy = filled(membersAt(spec, "strategy"), { type: "RollingUpdate" });
    const rolling =
      strategy["type"] === "RollingUpdate"
        ? { ...strategy, rollingUpdate: filled(membersAt(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" }) }
        : strategy;
    return filled({ ...withTemplate(spec), strategy: rolling }, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  });
}

/** Of ReplicaSets and ReplicationControllers. */
export function replicaSetDefaults(content: Members): Members {
  return specOf(content, (spec) => filled(withTemplate(spec), { replicas: 1 }));
}

/** Of DaemonSets. */
export function daemonSetDefaults(content: Members): Members {
  return specOf(content, (spec) => {
    const strategy = filled(membersAt(spec, "updateStrategy"), { type: "RollingUpdate" });
    const rolling =
      strategy["type"] === "RollingUpdate"
        ? { ...strategy, rollingUpdate: filled(membersAt(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 }) }
        : strategy;
    return filled({ ...withTemplate(spec), updateStrategy: rolling }, { revisionHistoryLimit: 10 });
  });
}

/** Of StatefulSets, with the claims of their pods. */
export function statefulSetDefaults(content: Members): Members {
  return specOf(content, (spec) => {
    const strategy = filled(membersAt(spec, "updateStrategy"), { type: "RollingUpdate" });
    const rolling =
      strategy["type"] === "RollingUpdate"
        ? { ...strategy, rollingUpdate: filled(membersAt(strategy, "rollingUpdate"), { partition: 0 }) }
        : strategy;
    const retention = filled(membersAt(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
    const completed = withChanged(
      { ...withTemplate(spec), updateStrategy: rolling, persistentVolumeClaimRetentionPolicy: retention },
      {
        volumeClaimTemplates: (claim) => ({
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          ...storageDefaults(claim),
          status: filled(membersAt(claim, "status"), { phase: "Pending" }),
        }),
      },
    );
    return filled(completed, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" });
  });
}

/** Of PersistentVolumeClaims. */
export function storageDefaults(content: Members): Members {
  return specOf(content, (spec) => filled(spec, { volumeMode: "Filesystem" }));
}

/** Source: pkg/apis/batch/v1/defaults.go. */
export function jobDefaults(content: Members): Members {
  return specOf(content, (spec) => jobSpecDefaults(spec));
}

function jobSpecDefaults(spec: Members): Members {
  const isIndexed = spec["completionMode"] === "Indexed";
  const counts =
    spec["completions"] === undefined && spec["parallelism"] === undefined ? { completions: 1, parallelism: 1 } : { parallelism: 1 };
  return filled(withTemplate(spec), {
    ...counts,
    backoffLimit: isIndexed && spec["backoffLimitPerIndex"] !== undefined ? 2147483647 : 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed",
    manualSelector: false,
  });
}

/** Of CronJobs. */
export function cronJobDefaults(content: Members): Members {
  return specOf(content, (spec) => {
    const job = membersAt(spec, "jobTemplate");
    const template = isMembers(membersAt(job, "spec")["template"]) ? { ...job, spec: cronJobTemplate(membersAt(job, "spec")) } : job;
    return filled(
      { ...spec, jobTemplate: template },
      { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
    );
  });
}

/** The defaults of a Job itself wait until there is one. */
function cronJobTemplate(spec: Members): Members {
  return withTemplate(spec);
}
