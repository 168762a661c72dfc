"""plotting.py: the axes fit the data, the legend stands above the plot, and a paper's points are drawn
beside ours."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/common"))
import plotting  # noqa: E402


def plot(**more):
    return plotting.Plot(title="SOB, F_W = 2%", x_label="P", y_label="acquires per s", **{
        "lines": {"RMA-RW": [(16, 300), (1024, 70000)], "foMPI-RW": [(16, 250), (1024, 900)]}, **more})


class Plotting(unittest.TestCase):
    def test_axes_begin_and_end_where_the_data_does(self):
        script = plotting.script("a.svg", [plot()])
        self.assertIn("set xrange [16:1024]", script)
        self.assertIn("set logscale x", script)
        self.assertIn("set yrange [200:100000]", script)

    def test_a_linear_axis_begins_at_0(self):
        script = plotting.script("a.svg", [plot(lines={"one": [(0, 3.2), (100, 9.1)]}, log_y=False)])
        self.assertIn("set xrange [0:100]", script)
        self.assertIn("unset logscale x", script)
        self.assertIn("set yrange [0:10]", script)

    def test_the_legend_stands_above_the_plot(self):
        self.assertIn("set key above", plotting.script("a.svg", [plot()]))

    def test_the_points_of_a_paper_have_the_colour_of_their_line(self):
        script = plotting.script("a.svg", [plot(paper={"foMPI-RW": [(1024, 11000)]},
                                                paper_name="paper: 1/6 of RMA-RW")])
        colour = plotting.COLOURS[1]
        self.assertRegex(script, rf"points lw 2 pt 4 .*'{colour}' notitle")
        self.assertIn("1024 11000", script)
        self.assertIn("title 'paper: 1/6 of RMA-RW'", script)

    def test_an_axis_has_room_for_the_points_of_a_paper(self):
        script = plotting.script("a.svg", [plot(paper={"RMA-RW": [(1024, 3e6)]})])
        self.assertIn("set yrange [200:5e+06]", script)

    def test_subscripts_and_other_underscores(self):
        self.assertEqual(plotting.typeset("F_W of a_b"), r"'F_{W} of a\_b'")


if __name__ == "__main__":
    unittest.main()
