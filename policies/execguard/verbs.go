package execguard

import (
	"fmt"
	"slices"
	"strings"
)

// verbs are tools whose first word decides. Each line: tool, level, words; * is every other word, - is none at all.
const verbs = `
	git safe status log diff show rev-parse rev-list ls-files ls-tree blame annotate describe shortlog cat-file grep reflog name-rev
	git safe merge-base for-each-ref show-ref count-objects check-ignore check-attr whatchanged help version cherry diff-tree diff-index var -
	git caution add commit checkout switch merge fetch pull clone init mv rebase cherry-pick revert apply am format-patch archive branch tag
	git caution remote stash notes worktree submodule reset bisect bundle ls-remote fsck config sparse-checkout *
	git danger push clean restore rm filter-branch filter-repo gc prune update-ref replace send-email svn p4 daemon credential
	docker,podman safe ps images logs inspect version info top stats port history -
	docker,podman caution build pull tag search diff events
	docker,podman danger *
	kubectl safe get describe logs version explain top api-resources cluster-info -
	kubectl danger *
	helm safe list status history show search version get template lint -
	helm danger *
	terraform,tofu safe show validate version output providers graph -
	terraform,tofu caution plan init fmt get
	terraform,tofu danger *
	systemctl safe status is-active is-enabled is-failed list-units list-unit-files list-timers show cat -
	systemctl danger *
	apt,apt-get,apt-cache safe list search show policy depends rdepends showpkg -
	apt,apt-get,apt-cache danger *
	yum,dnf,zypper,apk safe list search info repolist -
	yum,dnf,zypper,apk danger *
	brew,snap,pacman,port safe list search info -
	brew,snap,pacman,port danger *
	npm safe ls list view info outdated search help -
	npm caution install ci run test start exec audit init *
	npm danger publish unpublish deprecate owner access token dist-tag login logout adduser
	svn,hg,bzr safe status log diff info list cat blame -
	svn,hg,bzr caution *
	ip safe addr a address link route r neigh -
	ip danger *
	aws,gcloud,az danger * -
`

// verbValues are options before the word whose value is the next word.
const verbValues = `-C --git-dir --work-tree --namespace -c --config-env -n -H --host --context --kubeconfig -f`

// strong are words and options that make a harmless verb dangerous. Each line: tool, verb, options or words.
const strong = `
	git grep -O --open-files-in-pager
	git reset --hard --merge --keep
	git checkout -f --force -- . -B
	git switch -f --force --discard-changes -C
	git branch -d -D --delete -M -f --force
	git tag -d --delete -f --force
	git stash drop clear pop
	git reflog expire delete
	git remote remove rm set-url add rename
	git worktree remove
	git rebase -x --exec
	git bisect run
	git config core alias --global --system --edit -e
	git submodule foreach deinit
	git commit --amend
	ip addr add del delete change replace flush set
	ip a add del delete change replace flush set
	ip address add del delete change replace flush set
	ip link add del delete change replace flush set
	ip route add del delete change replace flush set
	ip r add del delete change replace flush set
`

// verbLevels returns the level of every verb of a tool, or an empty map.
func verbLevels(tool string) map[string]level {
	levels := map[string]level{}
	for fields := range rowsOf(verbs, tool) {
		for _, verb := range fields[1:] {
			levels[verb] = levelNamed(fields[0])
		}
	}
	return levels
}

func judgeVerb(c call, known map[string]level) finding {
	verb, rest := c.verb()
	l, listed := known[verb.text]
	switch {
	case verb.text == "":
		l = known["-"]
	case !verb.known():
		return finding{level: danger, reason: "What " + c.name + " does is not known before it runs."}
	case !listed:
		l = known["*"]
	}
	found := finding{level: l, reason: fmt.Sprintf("%s %s is %s.", c.name, verb.text, l.words()), pattern: pattern(c.name, verb.text, l)}
	if option := strengthens(c.name, verb.text, rest); option != "" {
		found = found.or(finding{level: danger, reason: fmt.Sprintf("%s %s with %s can lose work or change what others see.", c.name, verb.text, option), pattern: c.name + " " + verb.text + " " + option})
	}
	if c.name == "git" && c.setsConfig(len(c.args)-len(rest)) {
		found = found.or(finding{level: danger, reason: "git is told to use a setting that may run a command.", pattern: "git -c"})
	}
	return found
}

func pattern(name, verb string, l level) string {
	if l < danger {
		return ""
	}
	return strings.TrimSpace(name + " " + verb)
}

func (l level) words() string {
	switch l {
	case safe:
		return "a command that only reads"
	case caution:
		return "a command that changes files here"
	}
	return "a command that reaches beyond the files here"
}

// verb returns the first word that is neither an option nor an option's value, and what follows it.
func (c call) verb() (word, []word) {
	values := strings.Fields(verbValues)
	for i := 0; i < len(c.args); i++ {
		switch {
		case c.args[i].takesNext(values):
			i++
		case !c.args[i].option():
			return c.args[i], c.args[i+1:]
		}
	}
	return word{}, nil
}

// strengthens returns the option or word among rest that makes a verb dangerous.
func strengthens(tool, verb string, rest []word) string {
	for fields := range rowsOf(strong, tool) {
		if fields[0] != verb {
			continue
		}
		for _, option := range fields[1:] {
			if slices.ContainsFunc(rest, func(arg word) bool { return arg.strengthens(option) }) {
				return option
			}
		}
	}
	return ""
}

// strengthens reports whether a word is the given word or option, or a setting below it.
func (w word) strengthens(option string) bool {
	return w.text == option || len(option) > 2 && strings.HasPrefix(w.text, option+".") ||
		len(option) > 1 && option[0] == '-' && option != "--" && w.is(option)
}

// setsConfig reports whether git's own options change its settings: many of them are commands.
func (c call) setsConfig(before int) bool {
	for _, arg := range c.args[:before] {
		if strings.HasPrefix(arg.text, "-c") || strings.HasPrefix(arg.text, "--config-env") || strings.HasPrefix(arg.text, "--exec-path=") {
			return true
		}
	}
	return false
}
