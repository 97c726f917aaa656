// Command modzip makes a folder a module proxy can be read from, with one version of one module in it: the files that a
// proxy would serve, made by the code that a proxy makes them with.
//
//	modzip FOLDER VERSION PROXY
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: modzip FOLDER VERSION PROXY")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "modzip:", err)
		os.Exit(1)
	}
}

func serve(folder, version, proxy string) error {
	gomod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(gomod), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	served := filepath.Join(proxy, escaped, "@v")
	if err := os.MkdirAll(served, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(served, version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(
		zip.CreateFromDir(archive, m, folder),
		archive.Close(),
		os.WriteFile(filepath.Join(served, version+".mod"), gomod, 0o644),
		os.WriteFile(filepath.Join(served, version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(served, "list"), []byte(version+"\n"), 0o644),
	)
}
