package pskaworker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

const (
	pageSize = 50   // items asked for at once
	maxPages = 1000 // of one batch
)

// batch is what a digest run works on.
type batch struct {
	items []json.RawMessage // those that the model is shown
	total int               // all of them
	pages int
}

// page is one part of a batch.
type page struct {
	items []json.RawMessage
	next  string // cursor of the next part; empty when there is none
}

// batch reads a job's batch to its end. Items beyond the byte limit are counted, but not kept.
func (p *pska) batch(ctx context.Context, job Job, most int) (batch, error) {
	var whole batch
	id, cursor, size := job.Batch, job.Cursor, 0
	for seen := map[string]bool{}; whole.pages < maxPages; {
		part, err := p.page(ctx, job, id, cursor)
		if statusOf(err) == http.StatusNotFound && whole.pages == 0 && id != job.ID {
			id = job.ID
			continue
		}
		if err != nil {
			return batch{}, fmt.Errorf("read batch %s: %w", id, err)
		}
		whole.pages++
		whole.total += len(part.items)
		for _, item := range part.items {
			if size += len(item); size <= most {
				whole.items = append(whole.items, item)
			}
		}
		seen[cursor] = true
		if cursor = part.next; cursor == "" {
			return whole, nil
		}
		if seen[cursor] {
			return batch{}, failure{"batch_endless", "a cursor of the batch comes twice", false}
		}
	}
	return batch{}, failure{"batch_endless", fmt.Sprintf("the batch has more than %d pages", maxPages), false}
}

func (p *pska) page(ctx context.Context, job Job, id, cursor string) (page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	raw, err := p.call(ctx, http.MethodGet, "/digest/batches/"+url.PathEscape(id)+"?"+query.Encode(), job, nil)
	if err != nil {
		return page{}, err
	}
	return readPage(raw)
}

// readPage reads a part of a batch, whichever way its items are called.
func readPage(raw json.RawMessage) (page, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return page{items: list}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return page{}, fmt.Errorf("decode a page: %w", err)
	}
	var nested map[string]json.RawMessage
	if json.Unmarshal(fields["batch"], &nested) == nil && nested != nil {
		maps.Copy(nested, fields)
		fields = nested
	}
	for _, key := range []string{"items", "sources", "source_items", "documents", "chunks", "entries", "records", "results", "data"} {
		if json.Unmarshal(fields[key], &list) == nil && list != nil {
			break
		}
	}
	return page{items: list, next: nextCursor(fields)}, nil
}

// nextCursor returns where the next part begins, unless the answer says that there is none.
func nextCursor(fields map[string]json.RawMessage) string {
	if more := string(fields["has_more"]); more == "false" {
		return ""
	}
	for _, key := range []string{"next_cursor", "next", "cursor_next"} {
		var text string
		if json.Unmarshal(fields[key], &text) == nil && text != "" {
			return text
		}
		var number json.Number
		if json.Unmarshal(fields[key], &number) == nil && number != "" {
			return number.String()
		}
	}
	return ""
}
