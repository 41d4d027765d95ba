// health runs a health script as Argo CD does: the object is the global obj, and the result is a table with status and message.
// Reads {"script": …, "objects": […]} from standard input and prints a list of results, one for each object.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

type input struct {
	Script  string `json:"script"`
	Objects []any  `json:"objects"`
}

type result struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fail(err)
	}
	results := make([]result, 0, len(in.Objects))
	for _, object := range in.Objects {
		one, err := run(in.Script, object)
		if err != nil {
			fail(err)
		}
		results = append(results, one)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// run has the libraries that Argo CD opens without useOpenLibs: none but the base and tables. Source: argo-cd, util/lua/lua.go.
func run(script string, object any) (result, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}, lua.LString(library.name)); err != nil {
			return result{}, err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return result{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return result{}, fmt.Errorf("the script gives no table but %s", state.Get(-1).Type())
	}
	return result{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}, nil
}

func value(state *lua.LState, given any) lua.LValue {
	switch typed := given.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		table := state.CreateTable(len(typed), 0)
		for _, item := range typed {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(typed))
		for key, item := range typed {
			table.RawSetString(key, value(state, item))
		}
		return table
	}
	return lua.LNil
}
