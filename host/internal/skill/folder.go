package skill

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Config is what a set is made of. Zero bounds mean the defaults.
type Config struct {
	Dir      string // folder of skills; empty means only those that come with the program
	MaxBytes int    // of one SKILL.md; 65536
	MaxCount int    // of skills in the folder; 256
}

const (
	defaultBytes = 64 << 10
	defaultCount = 256
	fileName     = "SKILL.md"
)

//go:embed builtin
var builtin embed.FS

// Load reads every skill. A skill in the folder takes the place of one with its name that came with the program. An
// error joins everything that is wrong, each with file and line.
func Load(cfg Config) (*Set, error) {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = defaultBytes
	}
	if cfg.MaxCount <= 0 {
		cfg.MaxCount = defaultCount
	}
	own, err := fs.Sub(builtin, "builtin")
	if err != nil {
		return nil, fmt.Errorf("read skills: %w", err)
	}
	skills, err := read(own, "builtin", cfg)
	if err != nil {
		return nil, fmt.Errorf("read skills: %w", err)
	}
	for i := range skills {
		skills[i].Builtin = true
	}
	if cfg.Dir == "" {
		return &Set{skills}, nil
	}
	folder, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("read skills: %w", err)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	theirs, err := read(folder.FS(), cfg.Dir, cfg)
	if err != nil {
		return nil, fmt.Errorf("read skills: %w", err)
	}
	for _, skill := range theirs {
		skills = append(slices.DeleteFunc(skills, named(skill.Name)), skill)
	}
	sortByName(skills)
	return &Set{skills}, nil
}

// read reads every skill of a folder that keeps its links inside. dir is how messages call it.
func read(folder fs.FS, dir string, cfg Config) ([]run.Skill, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	var (
		skills   []run.Skill
		problems []error
	)
	for _, entry := range entries {
		isSkill, err := holdsSkill(folder, entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", path.Join(dir, entry.Name()), err))
		}
		if !isSkill || err != nil {
			continue
		}
		if len(skills) == cfg.MaxCount {
			return nil, errors.Join(append(problems, fmt.Errorf("%s: it holds more than %d skills", dir, cfg.MaxCount))...)
		}
		skill, err := readOne(folder, entry.Name(), cfg.MaxBytes)
		if err != nil {
			problems = append(problems, inFile(path.Join(dir, entry.Name(), fileName), err))
			continue
		}
		skills = append(skills, skill)
	}
	return skills, errors.Join(problems...)
}

// holdsSkill reports whether an entry is the folder of a skill. Files and hidden folders beside them are not.
func holdsSkill(folder fs.FS, entry fs.DirEntry) (bool, error) {
	if strings.HasPrefix(entry.Name(), ".") {
		return false, nil
	}
	info, err := fs.Stat(folder, entry.Name()) // follows links that stay inside
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, nil
	}
	if !validName(entry.Name()) {
		return false, errors.New("the name of a skill is made of at most 64 of a-z, 0-9, _ and -")
	}
	return true, nil
}

func readOne(folder fs.FS, name string, most int) (run.Skill, error) {
	file := path.Join(name, fileName)
	info, err := fs.Stat(folder, file)
	switch {
	case err != nil:
		return run.Skill{}, err
	case !info.Mode().IsRegular(): // a pipe would keep its reader waiting
		return run.Skill{}, errors.New("it is no file")
	}
	opened, err := folder.Open(file)
	if err != nil {
		return run.Skill{}, err
	}
	defer opened.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(opened, int64(most)+1))
	switch {
	case err != nil:
		return run.Skill{}, err
	case len(text) > most:
		return run.Skill{}, fmt.Errorf("it is longer than %d bytes", most)
	}
	return parse(name, text)
}

func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
