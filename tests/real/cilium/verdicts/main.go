// Command verdicts says what network policies mean, by Cilium's own policy engine: the checks of its CRDs and of its agent, the identities
// that pods have, and which connections its policy map lets in. It simulates no datapath.
//
//	verdicts crds DIR    writes Cilium's CRDs
//	verdicts < WORLDS    a JSON list of worlds on stdin; a JSON list of judgements on stdout
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	cmtypes "github.com/cilium/cilium/pkg/clustermesh/types"
	"github.com/cilium/cilium/pkg/crypto/certificatemanager"
	"github.com/cilium/cilium/pkg/endpoint/regeneration"
	envoypolicy "github.com/cilium/cilium/pkg/envoy/policy"
	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	ipcachetypes "github.com/cilium/cilium/pkg/ipcache/types"
	"github.com/cilium/cilium/pkg/k8s/apis/cilium.io/client"
	ciliumv2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2/validator"
	k8sutils "github.com/cilium/cilium/pkg/k8s/utils"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/labelsfilter"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/api"
	policytypes "github.com/cilium/cilium/pkg/policy/types"
	policyutils "github.com/cilium/cilium/pkg/policy/utils"
	testpolicy "github.com/cilium/cilium/pkg/testutils/policy"
	"github.com/cilium/cilium/pkg/u8proto"
)

// world is one cluster with its policies, the pods that call and are called, and the ports that are asked for.
type world struct {
	// ClusterName is Cilium's name of the cluster.
	ClusterName string           `json:"clusterName"`
	Policies    []map[string]any `json:"policies"`
	Pods        []pod            `json:"pods"`
	Ports       []uint16         `json:"ports"`
}

type pod struct {
	Name           string            `json:"name"`
	Namespace      string            `json:"namespace"`
	ServiceAccount string            `json:"serviceAccount"`
	Labels         map[string]string `json:"labels"`
	// Cluster is Cilium's name of the pod's cluster; empty for this one.
	Cluster string `json:"cluster"`
	// Reserved is an identity that is no pod's, such as host or world.
	Reserved string `json:"reserved"`
}

type judgement struct {
	// Refused: why the API server or the agent does not take a policy, by namespace/name.
	Refused map[string]string `json:"refused"`
	// Selected: the pods that a policy selects, by namespace/name.
	Selected map[string][]string `json:"selected"`
	// Admitted: connections that are let in, as "from to port".
	Admitted []string `json:"admitted"`
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "crds":
		err = writeCRDs(os.Args[2])
	case len(os.Args) == 1:
		err = judgeAll(os.Stdin, os.Stdout)
	default:
		log.Fatal("usage: verdicts [crds DIR]")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func writeCRDs(dir string) error {
	for _, listed := range client.CustomResourceDefinitionList() {
		crd := client.GetPregeneratedCRD(quiet, listed.Name)
		crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		text, err := yaml.Marshal(crd)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, listed.FullName+".yaml"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func judgeAll(in io.Reader, out io.Writer) error {
	var worlds []world
	if err := json.NewDecoder(in).Decode(&worlds); err != nil {
		return err
	}
	// What an agent on Kubernetes has by default.
	policy.SetPolicyEnabled(option.DefaultEnforcement)
	option.Config.EnableL7Proxy, option.Config.EnableIPv4, option.Config.EnableIPv6 = true, true, true
	option.Config.UnsafeDaemonConfigOption.AllowLocalhost = option.AllowLocalhostAlways
	if err := labelsfilter.ParseLabelPrefixCfg(quiet, nil, nil, ""); err != nil {
		return err
	}
	checks, err := validator.NewNPValidator(quiet)
	if err != nil {
		return err
	}
	judgements := make([]*judgement, 0, len(worlds))
	for i, w := range worlds {
		j, err := judge(checks, w)
		if err != nil {
			return fmt.Errorf("world %d: %w", i, err)
		}
		judgements = append(judgements, j)
	}
	return json.NewEncoder(out).Encode(judgements)
}

// rulesOf takes a policy as the API server and then the agent would.
func rulesOf(checks *validator.NPValidator, object map[string]any, cluster string) (api.Rules, error) {
	if err := checks.ValidateCNP(&unstructured.Unstructured{Object: object}); err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var taken ciliumv2.CiliumNetworkPolicy
	if err := json.Unmarshal(text, &taken); err != nil {
		return nil, err
	}
	return taken.Parse(quiet, cluster)
}

// placed is a pod with its identity.
type placed struct {
	pod
	id *identity.Identity
}

func (p placed) isHere(w world) bool {
	return p.Reserved == "" && (p.Cluster == "" || p.Cluster == w.ClusterName)
}

func judge(checks *validator.NPValidator, w world) (*judgement, error) {
	api.InitEntities(w.ClusterName)
	cluster := cmtypes.LocalClusterNameForPolicies(cmtypes.PolicyConfig{PolicyDefaultLocalCluster: true}, w.ClusterName)
	known := identity.IdentityMap{}
	identity.IterateReservedIdentities(func(id identity.NumericIdentity, one *identity.Identity) { known[id] = one.LabelArray })
	pods := make([]placed, 0, len(w.Pods))
	for i, p := range w.Pods {
		id, err := identityOf(p, w, i)
		if err != nil {
			return nil, err
		}
		known[id.ID] = id.LabelArray
		pods = append(pods, placed{p, id})
	}

	translator := envoypolicy.NewEnvoyL7RulesTranslator(quiet, certificatemanager.NewMockSecretManagerInline())
	repository := policy.NewPolicyRepository(quiet, known, nil, translator, identitymanager.NewIDManager(quiet), testpolicy.NewPolicyMetricsNoop())
	repository.GetSubjectSelectorCache().UpdateIdentities(known, nil, &sync.WaitGroup{})
	j := &judgement{Refused: map[string]string{}, Selected: map[string][]string{}, Admitted: []string{}}
	for _, object := range w.Policies {
		meta := unstructured.Unstructured{Object: object}
		name := meta.GetNamespace() + "/" + meta.GetName()
		rules, err := rulesOf(checks, object, cluster)
		if err != nil {
			j.Refused[name] = err.Error()
			continue
		}
		resource := ipcachetypes.NewResourceID(ipcachetypes.ResourceKindCNP, meta.GetNamespace(), meta.GetName())
		repository.ReplaceByResource(policyutils.RulesToPolicyEntries(rules), resource)
		j.Selected[name] = selectedBy(rules, pods, w)
	}

	for _, to := range pods {
		if !to.isHere(w) {
			continue
		}
		selected, _, err := repository.ComputeSelectorPolicy(to.id)
		if err != nil {
			return nil, err
		}
		distilled := selected.DistillPolicy(quiet, owner{to}, map[string]uint16{policy.FallbackRedirectID: math.MaxUint16})
		if err := distilled.Ready(); err != nil {
			return nil, err
		}
		for _, from := range pods {
			for _, port := range w.Ports {
				entry, _, _ := distilled.Lookup(policy.IngressKey().WithIdentity(from.id.ID).WithPortProto(u8proto.TCP, port))
				if !entry.IsDeny() {
					j.Admitted = append(j.Admitted, fmt.Sprintf("%s %s %d", from.Name, to.Name, port))
				}
			}
		}
	}
	return j, nil
}

func selectedBy(rules api.Rules, pods []placed, w world) []string {
	selected := []string{}
	for _, p := range pods {
		for _, rule := range rules {
			if p.isHere(w) && policytypes.NewLabelSelector(rule.EndpointSelector).Matches(p.id.LabelArray) {
				selected = append(selected, p.Name)
				break
			}
		}
	}
	return selected
}

type namespaceMeta string

func (n namespaceMeta) GetName() string { return string(n) }
func (n namespaceMeta) GetLabels() map[string]string {
	return map[string]string{"kubernetes.io/metadata.name": string(n)}
}

// identityOf gives a pod the labels that the agent of its cluster would, and leaves out those that are no part of identities.
func identityOf(p pod, w world, position int) (*identity.Identity, error) {
	if p.Reserved != "" {
		id := identity.LookupReservedIdentity(identity.GetReservedID(p.Reserved))
		if id == nil {
			return nil, fmt.Errorf("%s is no reserved identity", p.Reserved)
		}
		return id, nil
	}
	cluster := p.Cluster
	if cluster == "" {
		cluster = w.ClusterName
	}
	all := k8sutils.SanitizePodLabels(p.Labels, namespaceMeta(p.Namespace), p.ServiceAccount, cluster)
	kept, _ := labelsfilter.Filter(labels.Map2Labels(all, labels.LabelSourceK8s))
	return identity.NewIdentity(identity.NumericIdentity(1000+position), kept), nil
}

// owner is what the policy engine asks of an endpoint.
type owner struct{ placed }

func (o owner) GetID() uint64                                      { return uint64(o.id.ID) }
func (o owner) GetIngressNamedPort(string, u8proto.U8proto) uint16 { return 0 }
func (o owner) PolicyDebug(string, ...any)                         {}
func (o owner) IsHost() bool                                       { return false }
func (o owner) PreviousMapStateSizes() policy.MapStateSizes        { return policy.MapStateSizes{} }
func (o owner) RegenerateIfAlive(*regeneration.ExternalRegenerationMetadata) <-chan bool {
	done := make(chan bool)
	close(done)
	return done
}
