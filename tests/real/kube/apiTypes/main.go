// Prints, as JSON, how the built-in kinds of Kubernetes are written in Go: each struct's fields with their names in JSON, their numbers in protobuf, their
// types and tags. packages/simulator decodes and refuses requests by it, as kube-apiserver does.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

var structs = map[string][][]any{}

// Kinds that the API server serves, by group/version.
var kinds = map[string]map[string]string{}

// What has a form of its own in JSON.
var scalars = map[string]bool{
	"Time": true, "MicroTime": true, "Quantity": true, "IntOrString": true, "RawExtension": true, "FieldsV1": true, "Duration": true,
	"JSON": true, "JSONSchemaPropsOrBool": true, "JSONSchemaPropsOrArray": true, "JSONSchemaPropsOrStringArray": true, "Unknown": true,
}

func nameOf(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	if len(parts) < 2 {
		return t.Name()
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1] + "." + t.Name()
}

func typeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeOf(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + typeOf(t.Elem())
	case reflect.Map:
		return "map:" + typeOf(t.Elem())
	case reflect.Struct:
		if scalars[t.Name()] {
			return t.Name()
		}
		visit(t)
		return nameOf(t)
	case reflect.Interface:
		return "any"
	default:
		name := t.Name()
		// A string or number with a name of its own: its name is what messages say.
		if t.PkgPath() != "" {
			return t.Kind().String() + "=" + t.String()
		}
		return name
	}
}

func visit(t reflect.Type) {
	name := nameOf(t)
	if _, seen := structs[name]; seen {
		return
	}
	structs[name] = [][]any{}
	fields := [][]any{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		parts := strings.Split(tag, ",")
		if tag == "-" || !f.IsExported() {
			continue
		}
		flags := ""
		for _, p := range parts[1:] {
			if p == "omitempty" {
				flags += "o"
			}
			if p == "omitzero" {
				flags += "z"
			}
			if p == "inline" {
				flags += "i"
			}
		}
		if f.Anonymous && parts[0] == "" && !strings.Contains(flags, "i") {
			flags += "i"
		}
		number := 0
		if p := strings.Split(f.Tag.Get("protobuf"), ","); len(p) > 1 {
			number, _ = strconv.Atoi(p[1])
		}
		field := []any{parts[0], number, typeOf(f.Type), flags}
		if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
			field = append(field, strategy, f.Tag.Get("patchMergeKey"))
		}
		fields = append(fields, field)
	}
	structs[name] = fields
}

func main() {
	add := func(s *runtime.Scheme, keep func(version string) bool) {
		for gvk, t := range s.AllKnownTypes() {
			if !keep(gvk.Version) || strings.HasSuffix(gvk.Kind, "List") || t.Kind() != reflect.Struct {
				continue
			}
			gv := gvk.GroupVersion().String()
			if kinds[gv] == nil {
				kinds[gv] = map[string]string{}
			}
			visit(t)
			kinds[gv][gvk.Kind] = nameOf(t)
		}
	}
	stable := func(version string) bool {
		return version != runtime.APIVersionInternal && !strings.Contains(version, "alpha") && !strings.Contains(version, "beta")
	}
	add(scheme.Scheme, stable)
	extensions := runtime.NewScheme()
	if err := apiextensions.AddToScheme(extensions); err != nil {
		panic(err)
	}
	add(extensions, stable)
	for _, options := range []any{meta.DeleteOptions{}, meta.Status{}, meta.PatchOptions{}} {
		visit(reflect.TypeOf(options))
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"kinds": kinds, "structs": structs}); err != nil {
		panic(err)
	}
}
