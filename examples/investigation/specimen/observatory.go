package specimen

// Observatory is the affair of the observatory of Col-de-Brume: a photographic plate shows a star that no other plate
// of that night shows.
func Observatory() Workspace {
	s := newScene("observatory", 3)
	thing := func(typ, label, group string, details map[string]any) string {
		return s.add(node{ObjectKind: entity, Type: typ, Label: label, State: "CONFIRMED", Group: group, Details: details})
	}
	dome := thing("place", "Observatory of Col-de-Brume", "Mountain", map[string]any{"altitude_m": 2210})
	keeper := thing("person", "Oriane Vels", "Mountain", map[string]any{"role": "keeper of the plates"})
	guest := thing("person", "Professor Quillon-Rhys", "Guests", map[string]any{"role": "guest astronomer", "nights": 3})
	telescope := thing("instrument", "L'Œil de verre", "Mountain", map[string]any{"aperture_mm": 610})
	plate := s.add(node{ObjectKind: evidence, Type: "image", Label: "Plate 118", State: "DISPUTED", Group: "Plates", Details: map[string]any{
		"exposure_s": 900, "note": "One star too many, in the lower left corner, sharper than the others.",
	}})
	next := s.add(node{ObjectKind: evidence, Type: "image", Label: "Plate 119", State: "SEALED", Group: "Plates", Details: map[string]any{
		"exposure_s": 900, "note": "The same field twenty minutes later, without that star.",
	}})
	diary := s.add(node{ObjectKind: evidence, Type: "document", Label: "Diary of the dome", State: "SEALED", Group: "Papers", Details: map[string]any{
		"note": "Clouds from 01:20. Plate 118 developed by the guest himself.",
	}})
	measured := s.add(node{ObjectKind: execution, Type: "image.measure", Label: "Measurement of plates 118 and 119", State: "COMPLETED", Group: "Work", Details: map[string]any{"stars": 214}})
	widths := s.add(node{ObjectKind: extraction, Type: "widths", Label: "Widths of the stars on plate 118", State: "REVIEWED", Group: "Work", Details: map[string]any{"median_px": 4.1, "odd_one_px": 1.3}})
	sharp := s.add(node{ObjectKind: observation, Type: "statement", Label: "The odd star did not pass through the telescope", State: "SUPPORTED", Group: "Findings", Details: map[string]any{"reason": "It is sharper than the air allows."}})
	nova := s.add(node{ObjectKind: observation, Type: "statement", Label: "The odd star was a nova", State: "CONTRADICTED", Group: "Findings", Details: map[string]any{"said_by": "the guest"}})
	s.link(business, keeper, dome)
	s.link(business, telescope, dome)
	s.link(business, guest, telescope)
	s.link(provenance, plate, telescope, guest)
	s.link(provenance, next, telescope)
	s.link(provenance, diary, keeper)
	s.link(provenance, measured, plate, next)
	s.link(provenance, widths, measured)
	s.link(support, widths, sharp)
	s.link(support, diary, sharp)
	s.link(contradiction, next, nova)
	s.link(provenance, nova, guest)
	s.work("labfy.capability.image.measure.v1", "COMPLETED", "2031-09-18T10:00:00Z", map[string]any{"plates": 2})
	s.work("labfy.capability.weather.look_up.v1", "WAITING", "2031-09-18T10:30:00Z", map[string]any{"night": "2031-09-17"})
	return s.workspace()
}
