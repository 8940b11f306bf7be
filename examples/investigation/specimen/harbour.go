package specimen

// Harbour is the affair of the harbour office of Varnhaven: a crate changed its weight between the ship and the scales.
func Harbour() Workspace {
	s := newScene("harbour", 7)
	who := s.harbourPeople()
	papers := s.harbourPapers(who)
	s.harbourFindings(who, papers)
	s.work("labfy.capability.text.recognise.v1", "COMPLETED", "2031-03-04T08:10:00Z", map[string]any{"pages": 12, "source": "Logbook of the harbour office, March"})
	s.work("labfy.capability.invoice.compare.v1", "COMPLETED", "2031-03-04T08:25:00Z", map[string]any{"documents": 2})
	s.work("labfy.capability.image.measure.v1", "FAILED", "2031-03-04T09:02:00Z", map[string]any{"reason": "The photograph has no scale."})
	s.work("labfy.capability.timeline.build.v1", "RUNNING", "2031-03-05T07:40:00Z", map[string]any{"progress": 0.4})
	return s.workspace()
}

type harbourPeople struct{ office, clerk, captain, ship, trader, quay, crate string }

func (s *scene) harbourPeople() harbourPeople {
	known := func(typ, label, group string, details map[string]any) string {
		return s.add(node{ObjectKind: entity, Type: typ, Label: label, State: "CONFIRMED", Group: group, Details: details})
	}
	p := harbourPeople{
		office:  known("organisation", "Harbour office of Varnhaven", "Port", map[string]any{"role": "keeps the logbook and the scales", "staff": 9}),
		clerk:   known("person", "Maëlle d'Arquenne", "Port", map[string]any{"role": "clerk of the harbour office", "shift": "night"}),
		captain: known("person", "Tobin Askelund", "Ship", map[string]any{"role": "captain", "ship": "Grey Heron"}),
		ship:    known("vessel", "Grey Heron", "Ship", map[string]any{"flag": "Varnhaven", "length_m": 38}),
		trader:  known("organisation", "Saltmarsh & Daughters", "Trade", map[string]any{"business": "lamp oil and brass fittings"}),
		quay:    known("place", "Quay Seven", "Port", map[string]any{"depth_m": 6.5, "lanterns": 4}),
	}
	p.crate = s.add(node{ObjectKind: entity, Type: "object", Label: "Crate 4471", State: "SUSPECTED", Group: "Trade", Details: map[string]any{
		"declared_kg": 620, "weighed_kg": 280, "content": "brass fittings, says the paper",
	}})
	s.link(business, p.clerk, p.office)
	s.link(business, p.captain, p.ship)
	s.link(business, p.trader, p.ship, p.crate)
	s.link(business, p.ship, p.quay)
	s.link(business, p.office, p.quay)
	return p
}

type harbourPapers struct{ logbook, invoice, photograph, tides, note string }

func (s *scene) harbourPapers(who harbourPeople) harbourPapers {
	paper := func(typ, label, state string, details map[string]any) string {
		return s.add(node{ObjectKind: evidence, Type: typ, Label: label, State: state, Group: "Papers", Details: details})
	}
	p := harbourPapers{
		logbook: paper("document", "Logbook of the harbour office, March", "SEALED", map[string]any{
			"pages": 12, "note": "The entry of the third of March was written over. Below it stands: crate taken ashore at 02:10, scales at 02:55.",
		}),
		invoice: paper("document", "Invoice 4471", "OPEN", map[string]any{
			"amount": 1840, "note": "620 kilograms of brass fittings, paid in advance, to be called for by the bearer.",
		}),
		photograph: paper("image", "Photograph of the seal", "SEALED", map[string]any{
			"taken": "2031-03-03T03:05:00Z", "note": "The lead of the seal is whole, the wire is not.",
		}),
		tides: paper("table", "Tide table of Varnhaven", "OPEN", map[string]any{"low_water": "02:32", "range_m": 3.1}),
		note:  paper("letter", "Note found in the lamp room", "DISPUTED", map[string]any{"note": "« Laissez l'eau descendre, puis comptez les caisses. »"}),
	}
	s.link(business, p.invoice, who.trader)
	s.link(provenance, p.logbook, who.office)
	s.link(provenance, p.photograph, who.clerk)
	s.link(provenance, p.note, who.quay)
	return p
}

func (s *scene) harbourFindings(who harbourPeople, papers harbourPapers) {
	did := func(typ, label string, details map[string]any) string {
		return s.add(node{ObjectKind: execution, Type: typ, Label: label, State: "COMPLETED", Group: "Work", Details: details})
	}
	read := func(typ, label string, details map[string]any) string {
		return s.add(node{ObjectKind: extraction, Type: typ, Label: label, State: "REVIEWED", Group: "Work", Details: details})
	}
	saw := func(label, state string, details map[string]any) string {
		return s.add(node{ObjectKind: observation, Type: "statement", Label: label, State: state, Group: "Findings", Details: details})
	}
	recognition := did("text.recognise", "Recognition of the logbook", map[string]any{"pages": 12, "confidence": 0.94})
	comparison := did("invoice.compare", "Comparison of invoice and scales", map[string]any{"documents": 2})
	times := read("times", "Times read from the logbook", map[string]any{"ashore": "02:10", "scales": "02:55"})
	weights := read("weights", "Weights of crate 4471", map[string]any{"invoice_kg": 620, "scales_kg": 280})
	gap := saw("Forty-five minutes lie between quay and scales", "SUPPORTED", map[string]any{"minutes": 45, "distance_m": 120})
	lighter := saw("The crate lost 340 kilograms ashore", "SUPPORTED", map[string]any{"difference_kg": 340})
	intact := saw("The seal was never opened", "CONTRADICTED", map[string]any{"said_by": "the captain"})
	dry := saw("At low water the quay's steps are dry", "SUPPORTED", map[string]any{"from": "02:05", "to": "03:00"})
	s.link(provenance, recognition, papers.logbook)
	s.link(provenance, times, recognition, papers.logbook)
	s.link(provenance, comparison, papers.invoice)
	s.link(provenance, weights, comparison, papers.invoice)
	s.link(support, times, gap)
	s.link(support, weights, lighter)
	s.link(support, papers.tides, dry)
	s.link(support, dry, gap)
	s.link(support, papers.note, dry)
	s.link(contradiction, papers.photograph, intact)
	s.link(contradiction, lighter, intact)
	s.link(provenance, intact, who.captain)
	s.link(business, lighter, who.crate)
	s.link(business, gap, who.quay)
	s.link(support, lighter, who.crate)
}
