package host

// SkillsConfig says where the operator's know-how for the model is written down.
type SkillsConfig struct {
	Dir         string `key:"dir" default:"" about:"Folder with one folder for each skill, a SKILL.md in each. SIGHUP reads it again."`
	MaxBytes    int    `key:"max_bytes" default:"65536" min:"1" max:"1048576" about:"Size of one SKILL.md."`
	MaxCount    int    `key:"max_count" default:"256" min:"1" max:"10000" about:"Skills in the folder."`
	PromptBytes int    `key:"prompt_bytes" default:"131072" min:"1" max:"16777216" about:"Text of the skills in one prompt; one that does not fit is left out whole."`
}
