// Renders a chart as "helm template" does, for the functions that charts use most. Helm itself is
// not packaged by Debian; its template engine is text/template with sprig and the functions below.
//
//	render CHART VALUES.yaml
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func read(path string) map[string]interface{} {
	found := map[string]interface{}{}
	content, err := os.ReadFile(path)
	check(err)
	check(yaml.Unmarshal(content, &found))
	return found
}

func merge(into, from map[string]interface{}) {
	for key, value := range from {
		inner, isMap := value.(map[string]interface{})
		present, wasMap := into[key].(map[string]interface{})
		if isMap && wasMap {
			merge(present, inner)
		} else {
			into[key] = value
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	chart := os.Args[1]
	about, values := read(filepath.Join(chart, "Chart.yaml")), read(filepath.Join(chart, "values.yaml"))
	merge(values, read(os.Args[2]))
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		check(err)
		_, err = all.New(filepath.Base(path)).Parse(string(content))
		check(err)
	}
	release := map[string]interface{}{"Name": "test", "Namespace": "default", "Service": "Helm"}
	context := map[string]interface{}{
		"Values": values, "Release": release,
		"Chart": map[string]interface{}{"Name": about["name"], "AppVersion": about["appVersion"]},
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".yaml") {
			fmt.Printf("---\n# %s\n", filepath.Base(path))
			check(all.ExecuteTemplate(os.Stdout, filepath.Base(path), context))
			fmt.Println()
		}
	}
}
