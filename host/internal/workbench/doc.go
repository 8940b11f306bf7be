// Package workbench is where authors and reviewers try a plugin before anybody trusts it: it runs the plugin's cases in
// the very host that will run it, looks for leaks between tenants, measures, and says what a new version widens.
//
// It decides nothing and grants nothing outside itself: what a case may touch is a scratch folder and recorded answers.
// How its reports are shown is the business of the command.
package workbench
