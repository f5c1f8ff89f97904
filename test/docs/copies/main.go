// Does what BuildKit does for the COPY lines of a Dockerfile, by its own library: in order, from a context into a root.
// The options are those of solver/llbsolver/file/backend.go and frontend/dockerfile/dockerfile2llb/convert.go in BuildKit.
//
//	copies CONTEXT ROOT '[{"sources": ["out/a"], "destination": "/a", "chown": "1000:1000"}]'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	buildkit "github.com/tonistiigi/fsutil/copy"
)

type line struct {
	Sources     []string `json:"sources"`
	Destination string   `json:"destination"`
	// "UID:GID"; empty: root, whom BuildKit gives all files of a context.
	Chown string `json:"chown"`
}

func main() {
	var lines []line
	if err := json.Unmarshal([]byte(os.Args[3]), &lines); err != nil {
		log.Fatal(err)
	}
	for _, each := range lines {
		if err := each.run(os.Args[1], os.Args[2]); err != nil {
			log.Fatal(err)
		}
	}
}

func (l line) run(contextRoot, root string) error {
	owner := buildkit.User{}
	if l.Chown != "" {
		if _, err := fmt.Sscanf(l.Chown, "%d:%d", &owner.UID, &owner.GID); err != nil {
			return fmt.Errorf("--chown=%s is not UID:GID: %w", l.Chown, err)
		}
	}
	options := func(info *buildkit.CopyInfo) {
		info.Chown = func(*buildkit.User) (*buildkit.User, error) { return &owner, nil }
		info.AllowWildcards = true
		info.CopyDirContents = true
		info.FollowLinks = true
	}
	for _, source := range l.Sources {
		if err := buildkit.Copy(context.Background(), contextRoot, source, root, l.Destination, options); err != nil {
			return err
		}
	}
	return nil
}
