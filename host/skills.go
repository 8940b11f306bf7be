package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/skill"
)

func (s *Server) openSkills(context.Context) (err error) {
	if s.skills, err = skill.Open(skillsOf(s.options.Config.Skills)); err != nil {
		return fmt.Errorf("open skills: %w", err)
	}
	for _, known := range s.skills.All() {
		s.options.Log.Info("skill", slog.String("name", known.Name), slog.String("digest", known.Digest),
			slog.Bool("builtin", known.Builtin), slog.Bool("always", known.Always))
	}
	return nil
}

func skillsOf(cfg SkillsConfig) skill.Config {
	return skill.Config{Dir: cfg.Dir, MaxBytes: cfg.MaxBytes, MaxCount: cfg.MaxCount}
}

// reloadSkills takes up what changed in the skills folder. On an error the skills in force stay.
func (s *Server) reloadSkills() error {
	if err := s.skills.Reload(); err != nil {
		return fmt.Errorf("reload skills: %w", err)
	}
	s.options.Log.Info("skills reloaded", slog.Int("count", len(s.skills.All())))
	return nil
}

func examineSkills(cfg SkillsConfig) []Finding {
	set, err := skill.Load(skillsOf(cfg))
	if err == nil {
		from := "built in"
		if cfg.Dir != "" {
			from = "built in and from " + cfg.Dir
		}
		return []Finding{{Part: "skills", Health: Works, Says: fmt.Sprintf("%d %s", len(set.All()), from)}}
	}
	var findings []Finding
	for _, problem := range separate(err) {
		findings = append(findings, Finding{"skills", Broken, problem.Error(), "correct the file; see skills.dir"})
	}
	return findings
}

// separate takes a joined error apart, whatever it is joined of.
func separate(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, separate(part)...)
	}
	return parts
}
