"""The architecture, drawn: boxes, wires and labels as SVG, one file for each diagram."""
