package fastreact

import (
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

type skillList struct {
	Skills []wireSkill `json:"skills"`
}

type wireSkill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Digest      string   `json:"digest"`
	Always      bool     `json:"always"`
	Triggers    []string `json:"triggers"`
	Source      string   `json:"source"` // builtin or folder
	Bytes       int      `json:"bytes"`  // of its text in a prompt
}

// skills lists what the operator wrote down for the model, without the texts.
func (f *face) skills(x *web.Exchange) error {
	list := skillList{Skills: []wireSkill{}}
	if f.cfg.Skills != nil {
		for _, skill := range f.cfg.Skills() {
			list.Skills = append(list.Skills, toSkill(skill))
		}
	}
	return x.JSON(http.StatusOK, list)
}

func toSkill(skill run.Skill) wireSkill {
	source := "folder"
	if skill.Builtin {
		source = "builtin"
	}
	return wireSkill{
		Name: skill.Name, Description: skill.Description, Digest: skill.Digest, Always: skill.Always,
		Triggers: orEmpty(skill.Triggers), Source: source, Bytes: len(skill.Body),
	}
}
