/** What is reported of ServiceDependencies, AccessLogRecords and WasmDeployments, and of the address of agents: a part of `FINDINGS`. */
export const WORKLOAD_FINDINGS = {
  DependenciesNotLimited: {
    meaning:
      "The proxies of a workload are not limited to what its ServiceDependencies name: another one selects everything or was never accepted, or nothing that they name can be called from there.",
    example:
      "Workload gloo-mesh/web-shop-cluster-1-deployment is not limited, because ServiceDependency shop/all, which selects it too, selects everything: correct that one",
  },
  PodLabelsShared: {
    meaning:
      "What is written for a workload selects pods by their labels, and would apply to pods of another one too, or to all pods of its namespace. It is not written.",
    example:
      "Workload gloo-mesh/web-shop-cluster-1-deployment is not limited, because pods of Workload gloo-mesh/web-canary-shop-cluster-1-deployment have all of its labels and would lose hosts too: give its pods a label of their own",
  },
  LogFilterInvalid: {
    meaning: "A filter of an AccessLogRecord is no condition on a request. Nothing is logged, or what was accepted last.",
    example: "spec.filters[0].statusCodeMatcher.value: 700 is not a status code: set a number from 100 to 599",
  },
  WasmFilterInvalid: {
    meaning: "A filter of a WasmDeployment is not valid. Nothing is run, or what was accepted last.",
    example: "spec.filters[0]: has no source: set one of localPathSource, httpUriSource, wasmImageSource",
  },
  UserFilterBeside: {
    meaning: "A user-created EnvoyFilter changes HTTP filters of the pods for which a WasmDeployment adds some.",
    example:
      "EnvoyFilter shop/mine in cluster-1 of a user changes HTTP filters of Workload gloo-mesh/web-shop-cluster-1-deployment too, so which filter a request reaches first depends on the priority of both: compare them with spec.weight",
  },
  HeaderMasked: {
    meaning: "An AccessLogRecord asks for a header whose value agents never keep.",
    example:
      "spec.includedRequestHeaders[0]: agents mask the values of Authorization: entries only tell that it was there; remove it if that is no use",
  },
  AgentAddressInvalid: {
    meaning: "The address of agents in the Settings is none. The default is used.",
    example:
      'spec.agentServices.address: "http://agent" is not a host, or host:port, so the default is used: set one such as gloo-mesh-agent.gloo-mesh.svc.cluster.local:9977',
  },
  AgentAddressUnknown: {
    meaning: "In the cluster of a workload no agent is known. It sends no access logs, and runs no Wasm filters.",
    example:
      "Workload gloo-mesh/web-shop-cluster-1-deployment sends no access logs, because no agent is known in cluster-1: install one, or set agentServices.address of the Settings",
  },
  SidecarTaken: {
    meaning: "A user-created Sidecar selects the pods of a workload. It stays, and none is written.",
    example:
      "Workload gloo-mesh/web-shop-cluster-1-deployment has Sidecar shop/mine in cluster-1 of a user already, and Istio uses only one, so that one stays: remove it, or narrow the sourceSelectors",
  },
  SidecarReplaced: {
    meaning: "A user-created Sidecar for a whole namespace is not used for a workload with a Sidecar of its own.",
    example:
      "Sidecar shop/default in cluster-1 of a user, for all pods of its namespace, is not used for Workload gloo-mesh/web-shop-cluster-1-deployment any more, as Istio prefers a Sidecar with a workloadSelector: move what it needs of that one",
  },
} as const;
