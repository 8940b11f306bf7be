package fastreact

import "testing"

func TestAnAnswerWithoutACredentialNamesNobody(t *testing.T) {
	d := &desk{approval: waiting()}
	server := open(t, newBook(nil), atDesk(d))
	call(t, server, "POST", "/v1/approvals/approval-123/approve", "{}")
	if by := d.approval.ResolvedBy; by != "" {
		t.Errorf("resolved by %q, want nobody", by)
	}
}
