package investigation

import (
	"encoding/json"

	"github.com/fastreact/fastreact/sdk/wire"
)

// job finds one job by its id and tells all that stands there of it.
func job(f folder, args json.RawMessage) ([]byte, error) {
	id, err := argument(args, "job_id", isObjectID)
	if err != nil {
		return nil, err
	}
	text, err := f.read(jobsName, maxJobsBytes)
	if err != nil {
		return nil, err
	}
	jobs, err := parseJobs(text)
	if err != nil {
		return nil, err
	}
	found, known := jobs[fold(id)]
	if !known {
		return nil, jobUnknown
	}
	w := wire.NewWriter(len(found) + 64)
	w.Raw("job", found)
	w.Raw("object_refs", []byte("[]"))
	return w.End()
}

// parseJobs reads a text that checkText has passed, and returns the jobs as they are written, by their ids in small
// letters. One whose id has another form than ids have is there and is never found.
func parseJobs(text []byte) (map[string][]byte, error) {
	r := wire.NewReader(text)
	top := readRecord(r, []member{{"contract", wire.Text}, {"jobs", wire.List}})
	if r.End() != nil || !isList(top.raw("jobs")) || !isVersion(top, ".v1") {
		return nil, snapshotInvalid
	}
	jobs := map[string][]byte{}
	list := wire.NewReader(top.raw("jobs"))
	for range list.Elements() {
		entry := list.Raw()
		each := wire.NewReader(entry)
		id := fold(readRecord(each, []member{{"job_id", wire.Text}}).text("job_id"))
		if _, taken := jobs[id]; taken || id == "" || each.End() != nil {
			list.Fail(errShape)
		}
		jobs[id] = entry
	}
	if list.End() != nil {
		return nil, snapshotInvalid
	}
	return jobs, nil
}
